internal import CausewayPeers

/// Pending frames by peer. One task per peer sends them in order.
struct Outboxes {
    private struct Outbox {
        var frames: [[UInt8]?] = []
        var first = 0
        var byteCount = 0
        var isDraining = false

        var isEmpty: Bool { first == frames.count }
    }

    /// Maximum size of pending calls and results per peer, in bytes.
    static let limit = 16 << 20
    /// Maximum size, in bytes, of all frames that wait for one peer. Small frames, such as refusals, are not subject to
    /// ``limit``, but they are subject to this limit. A frame that would exceed it is dropped, because such a peer does
    /// not read.
    static let hardLimit = limit + (1 << 20)
    private static let frameOverhead = 64

    private var outboxes: [PeerIdentity: Outbox] = [:]
    private var idle: [PeerIdentity] = []

    func hasRoom(for byteCount: Int, to peer: PeerIdentity) -> Bool {
        (outboxes[peer]?.byteCount ?? 0) + byteCount + Self.frameOverhead <= Self.limit
    }

    mutating func append(_ frame: [UInt8], to peer: PeerIdentity) {
        var outbox = outboxes.removeValue(forKey: peer) ?? Outbox()
        defer { outboxes[peer] = outbox }
        let byteCount = frame.count + Self.frameOverhead
        guard outbox.byteCount + byteCount <= Self.hardLimit else { return }
        outbox.frames.append(frame)
        outbox.byteCount += byteCount
        if !outbox.isDraining {
            outbox.isDraining = true
            idle.append(peer)
        }
    }

    /// Returns the peers for which the caller must start a new sending task.
    mutating func peersToDrain() -> [PeerIdentity] {
        defer { idle = [] }
        return idle
    }

    /// Removes and returns a peer's next frame. After `nil`, the task that sends frames to this peer must end.
    mutating func next(_ peer: PeerIdentity) -> [UInt8]? {
        guard var outbox = outboxes.removeValue(forKey: peer), !outbox.isEmpty else { return nil }
        defer { outboxes[peer] = outbox }
        let frame = outbox.frames[outbox.first].take()
        outbox.first += 1
        outbox.byteCount -= (frame?.count ?? 0) + Self.frameOverhead
        // Removing sent frames moves the other frames to the front of the array. So remove at least half of the array
        // at once. On average, each frame then moves at most once.
        if outbox.isEmpty || outbox.first > max(64, outbox.frames.count / 2) {
            outbox.frames.removeFirst(outbox.first)
            outbox.first = 0
        }
        return frame
    }

    /// Drops all queued frames for peers that have left.
    mutating func keepOnly(_ isMember: (PeerIdentity) -> Bool) {
        for (peer, outbox) in outboxes where !outbox.isEmpty && !isMember(peer) {
            outboxes[peer] = Outbox(isDraining: outbox.isDraining)
        }
    }
}
