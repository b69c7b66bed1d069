internal import DequeModule

/// Sent frames that are counted and that the peer has not acknowledged. They are retransmitted if a new link replaces
/// the control link.
struct NumberedLog: Sendable {
    private var frames: Deque<PeerFrame> = []
    /// The number of acknowledged frames, which precede `frames`.
    private(set) var acknowledged: UInt64 = 0
    /// Index in `frames` of the next frame to retransmit; `frames.count` if there is none.
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

    /// Returns the next frame to retransmit after a resumption.
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

    /// Starts to retransmit the frames after number `count`. Returns `false` if the peer cannot have received that
    /// many.
    mutating func resume(from count: UInt64) -> Bool {
        guard count >= acknowledged, acknowledge(count) else { return false }
        cursor = 0
        return true
    }
}
