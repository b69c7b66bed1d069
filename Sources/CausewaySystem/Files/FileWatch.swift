internal import CCausewayLinux

/// Reports changes to a few files with inotify(7). A change is new content of a file, or a new target of a symbolic
/// link.
///
/// Create a new watch after each change, because the paths may now lead to other files.
package struct FileWatch: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private let names: [String]

    /// Watches files; a missing file is watched through its directory.
    ///
    /// - Throws: ``SystemError`` if no watch can be created, for example if the user has too many watches.
    package init(_ paths: [String]) throws(SystemError) {
        let descriptor = Descriptor(adopting: try check(cw_watch_open(), "inotify_init1"))
        var names: Set<String> = []
        var directories: Set<String> = []
        var isWatching = false
        for path in paths {
            // Watch the path's directory, and the directory of the file to which the path leads.
            for place in Set([path, Self.realPath(path) ?? path]) {
                guard let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) else { continue }
                names.insert(String(place[place.utf8.index(after: slash)...]))
                let directory = slash == place.startIndex ? "/" : String(place[..<slash])
                if directories.insert(directory).inserted, cw_watch_add(descriptor.rawValue, directory, true) == 0 {
                    isWatching = true
                }
            }
            // Watch the file itself too. If the file is a mount point, a change to it causes no event in its directory.
            if cw_watch_add(descriptor.rawValue, path, false) == 0 { isWatching = true }
        }
        guard isWatching else { throw SystemError(errno: ENOSPC, call: "inotify_add_watch") }
        self.names = names.sorted()
        self.descriptor = descriptor
    }

    /// The descriptor to wait on. The watch keeps ownership of the descriptor.
    package var rawValue: CInt { descriptor.rawValue }

    /// Transfers ownership of the descriptor to the caller, which must close it.
    package consuming func release() -> CInt { descriptor.release() }

    /// Reads pending events. Returns whether a watched file may have changed.
    package borrowing func drain() -> Bool { Self.drain(descriptor.rawValue, names) }

    /// Reads pending events like ``drain()``, for a caller that owns the descriptor.
    package static func drain(_ fd: CInt, _ names: [String]) -> Bool {
        let copies = names.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) }
        return cw_watch_drain(fd, pointers, CInt(pointers.count)) != 0
    }

    /// The watched file names, without their directories.
    package var fileNames: [String] { names }

    private static func realPath(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_097) { buffer in
            guard let start = buffer.baseAddress, cw_real_path(path, start, buffer.count) > 0 else { return nil }
            return String(cString: start)
        }
    }
}
