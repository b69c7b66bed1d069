/// What a program is told of the path of its connection: each change once.
package struct PathTracker: Sendable {
    /// What to tell, in this order.
    package struct Reports: Equatable, Sendable {
        package var path: ConnectionPath?
        package var viability: Bool?
        package var betterPath: Bool?

        package init(path: ConnectionPath? = nil, viability: Bool? = nil, betterPath: Bool? = nil) {
            self.path = path
            self.viability = viability
            self.betterPath = betterPath
        }

        package var isEmpty: Bool { path == nil && viability == nil && betterPath == nil }
    }

    private var last: ConnectionPath?

    package init() {}

    /// The latest path.
    package var path: ConnectionPath? { last }

    /// The first path is told, with its viability; that there is none better goes without saying.
    package mutating func changed(to path: ConnectionPath) -> Reports {
        defer { last = path }
        guard let last else {
            return Reports(path: path, viability: path.isViable, betterPath: path.hasBetter ? true : nil)
        }
        return Reports(
            path: Self.visible(path) == Self.visible(last) ? nil : path,
            viability: path.isViable == last.isViable ? nil : path.isViable,
            betterPath: path.hasBetter == last.hasBetter ? nil : path.hasBetter)
    }

    /// What a path says besides what is told by itself.
    private static func visible(_ path: ConnectionPath) -> ConnectionPath {
        var path = path
        (path.hasBetter, path.strays) = (false, false)
        return path
    }
}
