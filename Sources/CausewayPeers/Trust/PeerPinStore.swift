internal import CausewayPeerProtocols
internal import CausewaySystem
internal import Foundation

/// The store of recorded peer keys for one service.
///
/// The directory is `$XDG_DATA_HOME/causeway/peers/pins`. It has a file for each peer, which only the user can read.
///
/// Sessions of several programs may use a store at the same time. A file is written under a temporary name and then
/// renamed, so no session reads an incomplete file. If two sessions record different keys for the same peer ID, the
/// first key stays. All calls access the disk.
public struct PeerPinStore: Sendable {
    /// The service type, in lower case.
    public let service: String
    let directory: String
    private let root: String
    private let limit: Int

    /// - Parameter service: 1 to 15 letters, digits and hyphens, such as `abc-chat`.
    /// - Throws: ``PeerFailure`` with `invalid` for a wrong name, with `file` if the environment has no home directory.
    public init(service: String) throws(PeerFailure) {
        guard PeerSession.isValid(service) else {
            throw PeerFailure(.invalid, "'\(service)' is no service name: 1 to 15 of a-z, 0-9 and hyphens")
        }
        self.init(service, in: try PeerStore().directory)
    }

    init(_ service: String, in root: String, limit: Int = PeerPins.limit) {
        self.service = service.lowercased()
        self.root = root
        self.limit = limit
        directory = "\(root)/pins/\(self.service)"
    }

    /// The folder with the keys of this user's peers; `nil` if the environment has no home directory.
    package static var keyDirectory: String? { (try? PeerStore())?.directory }

    private func path(_ id: UInt64) -> String { "\(directory)/\(PinEntry.hexadecimal(id))" }

    // MARK: Reading

    /// The recorded keys, at most 1,024, the oldest first.
    ///
    /// - Throws: ``PeerFailure`` with `file` if a file cannot be read or is malformed, or if other users can change the store.
    public func pins() throws(PeerFailure) -> [PeerPin] { try load(.any).all.map { PeerPin($0) } }

    /// Reads the recorded keys. Above the maximum number of keys, the oldest keys without pairing are removed, also
    /// from the disk.
    func load(_ policy: PeerPolicy) throws(PeerFailure) -> PeerPins {
        var pins = PeerPins(policy, limit: limit)
        var entries: [PinEntry] = []
        for name in try names() {
            // Another program may have removed the file since its name was listed. If so, skip it.
            if let entry = try entry(name) { entries.append(entry) }
        }
        entries.sort { ($0.firstSeen, $0.key) < ($1.firstSeen, $1.key) }
        for entry in entries {
            if let evicted = pins.record(entry).evicted { try? remove(evicted.key.id) }
        }
        return pins
    }

    /// The file names of complete entries, which have 16 digits. Files with other names are still being written.
    private func names() throws(PeerFailure) -> [String] {
        for folder in [root, "\(root)/pins", directory] {
            guard let status = try FileStatus.of(folder) else { return [] }
            guard status.permissions & 0o022 == 0 else {
                throw PeerFailure(.file, "\(folder) can be changed by others: run chmod 700 \(folder)")
            }
        }
        return try allNames().filter { name in
            name.utf8.count == 16
                && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
    }

    /// The names of all files in the folder; none if there is no folder.
    private func allNames() throws(PeerFailure) -> [String] {
        do throws(SystemError) {
            return try DirectoryStream.names(in: directory)
        } catch {
            if error.errno == Errno.noEntry { return [] }
            throw PeerFailure(unreadable: directory, error)
        }
    }

    private func entry(_ name: String) throws(PeerFailure) -> PinEntry? {
        let path = "\(directory)/\(name)"
        guard let status = try FileStatus.of(path) else { return nil }
        guard status.kind == .regular, status.byteCount <= PinEntry.byteCount else {
            throw PeerFailure(.file, "\(path) is no recorded key: remove it")
        }
        guard status.permissions & 0o077 == 0 else {
            throw PeerFailure(.file, "\(path) can be read by others: run chmod 600, or remove the file")
        }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw PeerFailure(.file, "cannot read \(path)")
        }
        do throws(PinEntry.Malformed) {
            let entry = try PinEntry([UInt8](contents))
            guard PinEntry.hexadecimal(entry.key.id) == name else { throw PinEntry.Malformed(message: "another id") }
            return entry
        } catch {
            throw PeerFailure(.file, "\(path) is malformed: \(error.message); remove it to forget the peer")
        }
    }

    // MARK: Writing

    /// Writes a peer's key. If the peer's file has another key, keeps the file and throws `identityChanged`. A recorded
    /// pairing stays, even if the new entry has none.
    func write(_ entry: PinEntry) throws(PeerFailure) {
        let path = path(entry.key.id)
        var new = entry
        if new.firstSeen == 0 { new.firstSeen = UInt64(max(0, Date().timeIntervalSince1970)) }
        let name = PinEntry.hexadecimal(entry.key.id)
        if let old = try self.entry(name) {
            guard old.key == entry.key else { throw PeerFailure(.identityChanged) }
            guard entry.isPaired, !old.isPaired else { return }
            new.firstSeen = old.firstSeen
            return try place(new, path, replacing: true)
        }
        try prepare()
        try place(new, path, replacing: false)
        // In the meantime, another program may have recorded a different key for this peer. In that case, the other key
        // stays.
        if let stored = try self.entry(name), stored.key != entry.key { throw PeerFailure(.identityChanged) }
    }

    private func prepare() throws(PeerFailure) {
        for folder in [root, "\(root)/pins", directory] {
            guard try FileStatus.of(folder) == nil else { continue }
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw PeerFailure(.file, "cannot create \(folder): \(error)")
            }
        }
    }

    private func place(_ entry: PinEntry, _ path: String, replacing: Bool) throws(PeerFailure) {
        let files = FileManager.default
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max))"
        defer { try? files.removeItem(atPath: temporary) }
        let isCreated = files.createFile(
            atPath: temporary, contents: Data(entry.text.utf8), attributes: [.posixPermissions: 0o600])
        guard isCreated else { throw PeerFailure(.file, "cannot write \(temporary)") }
        if replacing {
            guard rename(temporary, path) == 0 else { throw PeerFailure(.file, "cannot write \(path)") }
            return
        }
        do {
            try files.moveItem(atPath: temporary, toPath: path)
        } catch {
            guard files.fileExists(atPath: path) else {
                throw PeerFailure(.file, "cannot write \(path): \(error)")
            }
        }
    }

    // MARK: Forgetting

    /// Removes a peer's key. The peer is then unknown again, with this key or with another key. Running sessions keep
    /// the keys they have read.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the file cannot be removed.
    public func forget(_ peer: PeerIdentity) throws(PeerFailure) { try remove(peer.id) }

    /// Removes all peers that are stored for the service, including peers whose files are malformed.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the store cannot be read, or if a file cannot be removed.
    public func forgetAll() throws(PeerFailure) {
        for name in try allNames() { try remove("\(directory)/\(name)") }
    }

    func remove(_ id: UInt64) throws(PeerFailure) { try remove(path(id)) }

    private func remove(_ path: String) throws(PeerFailure) {
        guard try FileStatus.of(path) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw PeerFailure(.file, "cannot remove \(path): \(error)")
        }
    }
}
