/// Computes the path reports for a program. Each change of the path is reported once.
package struct PathTracker: Sendable {
    /// The values to report to the program. The order of this type's properties is the order of the reports. A value
    /// that has not changed is `nil`.
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

    /// Records the path, and returns what to report to the program. The first call reports the path and its viability.
    /// It reports a better path only if there is one.
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

    /// Clears the properties whose changes cause no path report. Better paths are reported separately, and `strays` is
    /// only for internal use.
    private static func visible(_ path: ConnectionPath) -> ConnectionPath {
        var path = path
        (path.hasBetter, path.strays) = (false, false)
        return path
    }
}
