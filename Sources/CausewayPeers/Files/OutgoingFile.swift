internal import CausewayPeerProtocols
internal import Foundation

/// A file that is being sent to a peer.
final class OutgoingFile: Sendable {
    /// The properties of the transfer that never change.
    struct Source: Sendable {
        let url: URL
        let size: UInt64
        /// Whether the digest is always sent. Otherwise, it is sent only if the receiver has part of the file.
        let hasDigest: Bool
    }

    private struct State {
        var handle: FileHandle?
        /// The digest of the bytes read so far. `nil` if ``Source/hasDigest`` is `false`, or after a block was read out
        /// of order.
        var digest: RunningDigest?
        var needsDigest: Bool
    }

    let source: Source
    let progress: Progress
    let completion: @Sendable (PeerFailure?) -> Void
    private let progressed: @Sendable (_ sent: Int64, _ total: Int64) -> Void
    private let state: LockedValue<State>

    init(
        _ source: Source, _ progress: Progress,
        _ progressed: @escaping @Sendable (_ sent: Int64, _ total: Int64) -> Void,
        _ completion: @escaping @Sendable (PeerFailure?) -> Void
    ) {
        self.source = source
        self.progressed = progressed
        self.progress = progress
        self.completion = completion
        state = LockedValue(
            State(digest: source.hasDigest ? RunningDigest() : nil, needsDigest: source.hasDigest))
    }

    /// One block of the file's content.
    struct Block: Sendable {
        var bytes: [UInt8]
        var isLast: Bool
        /// The whole file's SHA-256 digest, set only in the file's final block.
        var digest: [UInt8]?
    }

    /// Reads a block, and opens the file for the first block.
    ///
    /// - Throws: ``PeerFailure`` with `file`, also if the file was truncated; with `violation` for an offset behind the end.
    func read(_ offset: UInt64, _ count: Int) throws(PeerFailure) -> Block {
        // The offset comes from the peer, so check it. `FileHandle.seek` traps if the offset is greater than
        // `Int64.max`.
        guard offset <= source.size else {
            throw PeerFailure(.violation, "the peer requested bytes behind the end of \(source.url.path)")
        }
        let wanted = Int(clamping: min(UInt64(count), source.size - offset))
        do {
            let block = try state.withLock { try read(offset, wanted, &$0) }
            progress.completedUnitCount = Int64(clamping: offset + UInt64(wanted))
            progressed(progress.completedUnitCount, progress.totalUnitCount)
            return block
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot read \(source.url.path): \(error)")
        }
    }

    private func read(_ offset: UInt64, _ wanted: Int, _ state: inout State) throws -> Block {
        let open = try state.handle ?? FileHandle(forReadingFrom: source.url)
        if state.handle == nil, offset > 0 { state.needsDigest = true }
        state.handle = open
        try open.seek(toOffset: offset)
        let bytes = try wanted == 0 ? Data() : open.read(upToCount: wanted) ?? Data()
        guard bytes.count == wanted else { throw PeerFailure(.file, "\(source.url.path) became shorter") }
        // Blocks can be out of order: the receiver may continue an earlier transfer, or the control link or a resource
        // connection broke. In that case, the file is read once more to compute the digest.
        if state.digest?.byteCount == offset { state.digest?.update(bytes) } else { state.digest = nil }
        let isLast = offset + UInt64(wanted) >= source.size
        guard isLast, state.needsDigest else { return Block(bytes: [UInt8](bytes), isLast: isLast) }
        let digest = try state.digest?.finish() ?? PeerKeyPair.digest(of: source.url)
        state.digest = nil
        return Block(bytes: [UInt8](bytes), isLast: true, digest: digest)
    }

    func close() { try? state.withLock { $0.handle.take() }?.close() }
}
