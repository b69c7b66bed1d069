internal import CausewayPeerProtocols
internal import Foundation
internal import Synchronization

/// A file that is being received: `NAME.part` in a directory that only the user can read, renamed when it is complete.
final class IncomingFile: Sendable {
    let name: String
    let progress: Progress
    private let directory: URL
    private let handle = Mutex<FileHandle?>(nil)

    init(_ offer: ResourceOffer) {
        name = ResourceOffer.safeName(offer.name)
        progress = Progress(totalUnitCount: offer.size.map { Int64(clamping: $0) } ?? -1)
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("causeway-peers-\(UUID().uuidString)", isDirectory: true)
    }

    /// Names of 255 bytes leave no room for a suffix.
    private var part: URL { directory.appendingPathComponent(String(name.prefix(60)) + ".part") }

    func create() throws(PeerFailure) {
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let isCreated = FileManager.default.createFile(
                atPath: part.path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard isCreated else { throw PeerFailure(.file, "cannot create \(part.path)") }
            let open = try FileHandle(forWritingTo: part)
            handle.withLock { $0 = open }
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot create \(part.path): \(error)")
        }
    }

    func write(_ bytes: [UInt8], at offset: UInt64) throws(PeerFailure) {
        do {
            try handle.withLock { handle in
                guard let handle else { throw PeerFailure(.file) }
                try handle.seek(toOffset: offset)
                try handle.write(contentsOf: bytes)
            }
            let end = Int64(clamping: offset) + Int64(bytes.count)
            if end > progress.completedUnitCount { progress.completedUnitCount = end }
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot write \(part.path): \(error)")
        }
    }

    /// Gives the file its name. Returns its place.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the digest is not that of the bytes.
    func finish(_ digest: [UInt8]?) throws(PeerFailure) -> URL {
        do {
            try handle.withLock { $0.take() }?.close()
            if let digest, try PeerKeyPair.digest(of: part) != digest {
                throw PeerFailure(.file, "the digest of \(name) is wrong")
            }
            let place = directory.appendingPathComponent(name)
            try FileManager.default.moveItem(at: part, to: place)
            return place
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot rename \(part.path): \(error)")
        }
    }

    /// Removes everything.
    func discard() {
        try? handle.withLock { $0.take() }?.close()
        try? FileManager.default.removeItem(at: directory)
    }
}
