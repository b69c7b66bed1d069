internal import CausewayPeerProtocols
internal import Foundation

/// A folder for incomplete files: if a peer offers a file again, the transfer continues where it ended.
///
/// An incomplete file is found by the peer's key, the file's name and its size. The digest after the transfer shows
/// whether both transfers had the same content.
final class PartFolder: Sendable {
    /// Maximum number of incomplete files. Beyond it, the oldest are removed.
    private static let limit = 64
    private static let suffix = ".part"

    let url: URL
    private let busy = LockedValue<Set<String>>([])

    init(_ url: URL) {
        self.url = url
    }

    /// One transfer's exclusive right to use an incomplete file. When this object is released, another transfer can use
    /// the file.
    final class Claim: Sendable {
        let folder: PartFolder
        private let name: String

        fileprivate init(_ folder: PartFolder, _ name: String) {
            (self.folder, self.name) = (folder, name)
        }

        deinit { folder.busy.withLock { _ = $0.remove(name) } }

        var url: URL { folder.url.appendingPathComponent(name) }
    }

    /// Reserves the file for an incomplete transfer, so that no other transfer uses it at the same time. Returns `nil`
    /// if the size is unknown, or if another transfer already uses this file.
    func claim(_ offer: ResourceOffer, of peer: PeerIdentity) -> Claim? {
        guard let size = offer.size else { return nil }
        let properties = Array("\(size) \(offer.name)".utf8)
        let digest = PeerKeyPair.digest(peer.fingerprint + properties)
        let name = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + Self.suffix
        guard busy.withLock({ $0.insert(name).inserted }) else { return nil }
        return Claim(self, name)
    }

    /// Creates the folder, which only the user can read, and removes old incomplete files.
    func prepare() throws {
        let files = FileManager.default
        if !files.fileExists(atPath: url.path) {
            try files.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let names = try files.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(Self.suffix) }
        guard names.count >= Self.limit else { return }
        let used = busy.withLock { $0 }
        let dated = names.filter { !used.contains($0) }.map { name -> (name: String, date: Date) in
            let path = url.appendingPathComponent(name).path
            let date = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            return (name, date ?? .distantPast)
        }
        let excess = names.count - Self.limit + 1
        for part in dated.sorted(by: { $0.date < $1.date }).prefix(excess) {
            try? files.removeItem(at: url.appendingPathComponent(part.name))
        }
    }
}
