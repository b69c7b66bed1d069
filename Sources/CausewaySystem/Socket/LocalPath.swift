/// Removes Unix-domain socket files.
package enum LocalPath {
    package static func remove(_ path: String) { _ = unlink(path) }

    /// Removes a socket file if no process listens on it. Keeps other kinds of files.
    package static func removeIfAbandoned(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        guard let probe = try? Socket.open(.unix, .stream) else { return }
        do throws(SystemError) {
            _ = try Socket.connect(probe.rawValue, to: .unix(path: path))
        } catch {
            if error.errno == ECONNREFUSED { remove(path) }
        }
    }
}
