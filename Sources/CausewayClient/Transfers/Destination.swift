internal import Foundation

/// Moves a downloaded file to its destination. At any time, the destination is absent, the old file, or the complete
/// new file.
enum Destination {
    /// Moves a temporary file to its destination and replaces the file there.
    ///
    /// - Throws: ``HTTPClientError/Code/file``; the temporary file is removed then.
    static func place(_ temporary: URL, at destination: URL) throws(HTTPClientError) {
        // A rename is atomic only within one directory, but the temporary file can be on another file system. So first
        // move the file to the destination's directory, under an intermediate name. This name does not contain the
        // destination's name, which may already have the maximum length.
        let near = destination.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        let files = FileManager.default
        do {
            try files.moveItem(at: temporary, to: near)
            // `FileManager.replaceItemAt` is not used: on Linux, it can remove both files.
            guard rename(near.path, destination.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            try? files.removeItem(at: temporary)
            try? files.removeItem(at: near)
            throw HTTPClientError(.file, "cannot write \(destination.path)", underlying: error)
        }
    }
}
