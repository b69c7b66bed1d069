internal import CausewaySystem
internal import Foundation

/// Local peers' keys in `$XDG_DATA_HOME/causeway/peers`, each in a file that only the user can read.
struct PeerStore {
    let directory: String

    /// - Throws: ``PeerFailure`` with `file` if the environment has no home directory.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(PeerFailure) {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/share" : nil }
        let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        guard let root = given ?? home else {
            throw PeerFailure(.file, "no directory for keys: set HOME or XDG_DATA_HOME")
        }
        directory = "\(root)/causeway/peers"
    }

    private func path(_ id: UInt64) -> String {
        let digits = String(id, radix: 16)
        return "\(directory)/\(String(repeating: "0", count: 16 - digits.count))\(digits).pem"
    }

    /// Returns the key with this number; `nil` if there is none.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the file is malformed, if it cannot be read, or if others may read or
    ///   write it.
    func key(_ id: UInt64) throws(PeerFailure) -> PeerKeyPair? {
        let path = path(id)
        guard let status = try FileStatus.of(path) else { return nil }
        guard status.permissions & 0o077 == 0 else {
            throw PeerFailure(.file, "\(path) can be read by others: run chmod 600, or remove the file")
        }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw PeerFailure(.file, "cannot read \(path)")
        }
        return try PeerKeyPair(pem: [UInt8](contents))
    }

    /// Writes a key to its file. If a file with this number exists, it stays if it has the same key; otherwise this is
    /// an error.
    func write(_ key: PeerKeyPair, _ id: UInt64) throws(PeerFailure) {
        if let stored = try self.key(id) {
            guard stored.publicKey == key.publicKey else {
                throw PeerFailure(.file, "\(path(id)) has another key")
            }
            return
        }
        let files = FileManager.default
        let path = path(id)
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max))"
        do {
            try files.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard
                files.createFile(
                    atPath: temporary, contents: Data(key.pem.utf8), attributes: [.posixPermissions: 0o600])
            else { throw PeerFailure(.file, "cannot write \(temporary)") }
            try files.moveItem(atPath: temporary, toPath: path)
        } catch {
            try? files.removeItem(atPath: temporary)
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot write \(path): \(error)")
        }
    }
}
