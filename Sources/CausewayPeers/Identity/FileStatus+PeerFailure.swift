internal import CausewaySystem

extension FileStatus {
    /// Returns the status of the file at a path; `nil` only if there is no such file.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the file may exist, but cannot be examined.
    static func of(_ path: String) throws(PeerFailure) -> FileStatus? {
        do throws(SystemError) { return try FileStatus(path) } catch { throw PeerFailure(unreadable: path, error) }
    }
}

extension PeerFailure {
    /// Creates the failure for a file or folder that cannot be read.
    init(unreadable path: String, _ error: SystemError) {
        self.init(.file, "cannot read \(path): make this user its owner, with mode 700 for folders (\(error.message))")
    }
}
