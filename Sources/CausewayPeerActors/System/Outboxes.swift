internal import CausewayPeers

/// The frames that wait to be sent, for each peer. A task per peer sends them in order.
struct Outboxes {
    private struct Outbox {
        var frames: [[UInt8]?] = []
        var first = 0
        var byteCount = 0
        var isDraining = false

        var isEmpty: Bool { first == frames.count }
    }

    /// Bytes of calls and results that wait for one peer.
    static let limit = 16 << 20
    /// Bytes that wait with the small frames, such as refusals, which are not counted before. Further frames are dropped: the peer does not
    /// read.
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

    /// The peers for which a task has to be started.
    mutating func peersToDrain() -> [PeerIdentity] {
        defer { idle = [] }
        return idle
    }

    /// The next frame for a peer. After `nil`, the task of the peer ends.
    mutating func next(_ peer: PeerIdentity) -> [UInt8]? {
        guard var outbox = outboxes.removeValue(forKey: peer), !outbox.isEmpty else { return nil }
        defer { outboxes[peer] = outbox }
        let frame = outbox.frames[outbox.first].take()
        outbox.first += 1
        outbox.byteCount -= (frame?.count ?? 0) + Self.frameOverhead
        if outbox.isEmpty || outbox.first > 64 {
            outbox.frames.removeFirst(outbox.first)
            outbox.first = 0
        }
        return frame
    }

    /// Drops the frames of peers that left.
    mutating func keepOnly(_ isMember: (PeerIdentity) -> Bool) {
        for (peer, outbox) in outboxes where !outbox.isEmpty && !isMember(peer) {
            outboxes[peer] = Outbox(isDraining: outbox.isDraining)
        }
    }
}
