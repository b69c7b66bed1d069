internal import CausewayPeerProtocols
internal import CausewaySystem
internal import Foundation

/// A file that is being received from a peer.
///
/// It is named `NAME.part`, in a directory that only the user can read. When it is complete, it is renamed. With a
/// ``PartFolder/Claim``, the transfer continues an incomplete file. This file stays if the transfer fails.
final class IncomingFile: Sendable {
    private struct State {
        var handle: FileHandle?
        /// The number of bytes that the file already had from an earlier transfer when this transfer began.
        var offset: UInt64 = 0
        /// Received bytes that wait to be written to the file. Their file offset is in `waitingOffset`.
        ///
        /// They are kept in one array, because the flow-control window limits the number of bytes but not the number of
        /// pieces.
        var waiting: [UInt8] = []
        var waitingOffset: UInt64 = 0
    }

    let name: String
    let progress: Progress
    private let size: UInt64?
    private let directory: URL
    private let claim: PartFolder.Claim?
    private let state = LockedValue(State())

    init(_ offer: ResourceOffer, _ claim: PartFolder.Claim?) {
        name = ResourceOffer.safeName(offer.name)
        size = offer.size
        progress = Progress(totalUnitCount: offer.size.map { Int64(clamping: $0) } ?? -1)
        self.claim = claim
        let root = claim?.folder.url ?? FileManager.default.temporaryDirectory
        directory = root.appendingPathComponent("causeway-peers-\(UUID().uuidString)", isDirectory: true)
    }

    /// The incomplete file. A file name has at most 255 bytes. The incomplete file must have another name than the
    /// complete file.
    private var part: URL {
        claim?.url ?? directory.appendingPathComponent(name.utf8.count <= 250 ? "\(name).part" : "file.part")
    }

    /// Opens the file. Returns the number of bytes that an earlier transfer has left in it.
    func create() throws(PeerFailure) -> UInt64 {
        let files = FileManager.default
        do {
            try claim?.folder.prepare()
            try files.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let kept = try claim == nil ? nil : keptByteCount()
            if kept == nil {
                let isCreated = files.createFile(
                    atPath: part.path, contents: nil, attributes: [.posixPermissions: 0o600])
                guard isCreated else { throw PeerFailure(.file, "cannot create \(part.path)") }
            }
            let open = try FileHandle(forWritingTo: part)
            state.withLock { ($0.handle, $0.offset) = (open, kept ?? 0) }
            if let kept { progress.completedUnitCount = Int64(clamping: kept) }
            return kept ?? 0
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot create \(part.path): \(error)")
        }
    }

    /// The size of an incomplete file that can be continued: a regular file without permissions for other users, not
    /// empty and not larger than the offer. Any other file is removed. A file that cannot be examined is an error,
    /// because a new file would replace it.
    private func keptByteCount() throws -> UInt64? {
        guard let status = try FileStatus.of(part.path) else { return nil }
        let count = UInt64(clamping: status.byteCount)
        guard status.kind == .regular, status.permissions & 0o077 == 0, count > 0, count <= size ?? 0 else {
            try FileManager.default.removeItem(at: part)
            return nil
        }
        return count
    }

    /// Adds bytes to the buffer of bytes that wait for the disk. Returns `true` if the buffer was empty. The caller
    /// must then arrange a call of ``writeWaiting()``.
    func add(_ bytes: [UInt8], at offset: UInt64) -> Bool {
        state.withLock { state in
            guard state.waiting.isEmpty else {
                state.waiting += bytes
                return false
            }
            (state.waiting, state.waitingOffset) = (bytes, offset)
            return true
        }
    }

    /// Writes the bytes that wait to be written to the disk. Returns the number of these bytes.
    func writeWaiting() throws(PeerFailure) -> Int {
        let (bytes, offset) = state.withLock { state in
            defer { state.waiting = [] }
            return (state.waiting, state.waitingOffset)
        }
        try write(bytes, at: offset)
        return bytes.count
    }

    /// Writes bytes at an offset of the file. Call this method only on the file queue, because writes must not overlap.
    /// The lock is not held during a write, so other threads can add bytes meanwhile.
    func write(_ bytes: [UInt8], at offset: UInt64) throws(PeerFailure) {
        do {
            guard let handle = state.withLock({ $0.handle }) else { throw PeerFailure(.file) }
            try handle.seek(toOffset: offset)
            try handle.write(contentsOf: bytes)
            let end = Int64(clamping: offset) + Int64(bytes.count)
            if end > progress.completedUnitCount { progress.completedUnitCount = end }
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot write \(part.path): \(error)")
        }
    }

    /// Gives the complete file its final name, and returns its URL.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the digest does not match the bytes. Also if the transfer was continued
    ///   and there is no digest.
    func finish(_ digest: [UInt8]?) throws(PeerFailure) -> URL {
        do {
            let (handle, offset) = state.withLock { state in (state.handle.take(), state.offset) }
            try handle?.close()
            if digest == nil, offset > 0 {
                throw PeerFailure(.file, "\(name) was continued, but its sender gave no digest")
            }
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

    /// Ends a failed transfer. Keeps the incomplete file for the next transfer under two conditions: `keepsPart` is
    /// `true`, and the transfer has a `claim` on a folder for incomplete files. Otherwise removes the file.
    func end(keepsPart: Bool) {
        try? state.withLock { $0.handle.take() }?.close()
        try? FileManager.default.removeItem(at: directory)
        if let claim, !keepsPart { try? FileManager.default.removeItem(at: claim.url) }
    }
}
