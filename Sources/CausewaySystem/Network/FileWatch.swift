internal import CCausewayLinux

/// Tells when one of a few files changes: its content, or what its name leads to (inotify(7)).
///
/// After a change make a new one: the names may lead elsewhere now.
package struct FileWatch: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private let names: [String]

    /// - Throws: Where no watch can be had, as when the user has too many. Files that are not there are watched by their directories.
    package init(_ paths: [String]) throws(SystemError) {
        let descriptor = Descriptor(adopting: try check(cw_watch_open(), "inotify_init1"))
        var names: Set<String> = []
        var directories: Set<String> = []
        var isWatching = false
        for path in paths {
            // The directory of the link, and that of the file that it leads to.
            for place in Set([path, Self.realPath(path) ?? path]) {
                guard let slash = place.lastIndex(of: "/") else { continue }
                names.insert(String(place[place.index(after: slash)...]))
                let directory = slash == place.startIndex ? "/" : String(place[..<slash])
                if directories.insert(directory).inserted, cw_watch_add(descriptor.rawValue, directory, true) == 0 {
                    isWatching = true
                }
            }
            // A file that is mounted by itself changes without its directory.
            if cw_watch_add(descriptor.rawValue, path, false) == 0 { isWatching = true }
        }
        guard isWatching else { throw SystemError(errno: ENOSPC, call: "inotify_add_watch") }
        self.names = names.sorted()
        self.descriptor = descriptor
    }

    /// The number to wait for readiness with. It stays this value's property.
    package var rawValue: CInt { descriptor.rawValue }

    /// Gives the descriptor away: whoever takes the number closes it.
    package consuming func release() -> CInt { descriptor.release() }

    /// Takes what has happened. Returns whether a file may be another than before.
    package borrowing func drain() -> Bool { Self.drain(descriptor.rawValue, names) }

    /// The same, for whoever holds the descriptor.
    package static func drain(_ fd: CInt, _ names: [String]) -> Bool {
        let copies = names.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) }
        return cw_watch_drain(fd, pointers, CInt(pointers.count)) != 0
    }

    /// The names of files that concern the watch, in any of its directories.
    package var fileNames: [String] { names }

    private static func realPath(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_097) { buffer in
            guard let start = buffer.baseAddress, cw_real_path(path, start, buffer.count) > 0 else { return nil }
            return String(cString: start)
        }
    }
}
