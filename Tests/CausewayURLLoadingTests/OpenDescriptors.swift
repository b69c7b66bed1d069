import Foundation

/// Finds the descriptors with which this process has opened a file.
enum OpenDescriptors {
    static func of(_ path: String) -> [CInt] {
        guard let resolved = realpath(path, nil) else { return [] }
        defer { free(resolved) }
        let wanted = String(cString: resolved)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { name in
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return file == wanted ? CInt(name) : nil
        }
    }

    /// Makes the descriptors of a file refer to a place without access (`O_PATH`), which the kernel does not
    /// synchronize (`EBADF`). Foundation takes the error of a device, `EINVAL`, for success.
    static func spoil(_ path: String) {
        let pathOnly: CInt = 0o10000000
        let device = open("/dev/null", pathOnly | O_CLOEXEC)
        for descriptor in of(path) { _ = dup2(device, descriptor) }
        close(device)
    }
}
