internal import DequeModule

/// The numbered frames that this side has sent, but that the peer has not acknowledged. When a new link replaces the
/// control link, this side sends these frames again.
struct NumberedLog: Sendable {
    private var frames: Deque<PeerFrame> = []
    /// The number of frames that the peer has acknowledged. These frames are no longer in `frames`.
    private(set) var acknowledged: UInt64 = 0
    /// The index in `frames` of the frame to retransmit next. Equals `frames.count` if there is none.
    private var cursor = 0
    private(set) var byteCount = 0

    /// The number of frames sent so far.
    var sent: UInt64 { acknowledged + UInt64(frames.count) }
    var isReplaying: Bool { cursor < frames.count }

    /// Records a frame that is being sent for the first time.
    mutating func append(_ frame: PeerFrame) {
        frames.append(frame)
        cursor = frames.count
        byteCount += frame.byteCount
    }

    /// Returns the next frame that was already sent and must be sent again on the new link. Returns `nil` if there is
    /// none.
    mutating func nextReplay() -> PeerFrame? {
        guard cursor < frames.count else { return nil }
        cursor += 1
        return frames[cursor - 1]
    }

    /// Removes all frames up to number `count`, because the peer has received them. Returns `false` if fewer were sent.
    mutating func acknowledge(_ count: UInt64) -> Bool {
        guard count <= sent else { return false }
        while acknowledged < count, let frame = frames.popFirst() {
            acknowledged += 1
            byteCount -= frame.byteCount
            cursor = max(0, cursor - 1)
        }
        return true
    }

    /// Prepares to retransmit all frames after the frame with number `count`. Returns `false` if the peer cannot have
    /// received that many frames.
    mutating func resume(from count: UInt64) -> Bool {
        guard count >= acknowledged, acknowledge(count) else { return false }
        cursor = 0
        return true
    }
}
