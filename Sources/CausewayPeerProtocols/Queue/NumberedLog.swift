internal import DequeModule

/// The numbered frames of one direction that the peer has not acknowledged. A resumption sends them again.
struct NumberedLog: Sendable {
    private var frames: Deque<PeerFrame> = []
    /// The number of frames before the first of `frames`.
    private(set) var acknowledged: UInt64 = 0
    /// The position in `frames` of the next frame to send again.
    private var cursor = 0
    private(set) var byteCount = 0

    /// The number of frames of this direction so far.
    var sent: UInt64 { acknowledged + UInt64(frames.count) }
    var isReplaying: Bool { cursor < frames.count }

    /// Records a frame that is being sent for the first time.
    mutating func append(_ frame: PeerFrame) {
        frames.append(frame)
        cursor = frames.count
        byteCount += frame.byteCount
    }

    /// The next frame to send again after a resumption.
    mutating func nextReplay() -> PeerFrame? {
        guard cursor < frames.count else { return nil }
        cursor += 1
        return frames[cursor - 1]
    }

    /// The peer has received the first `count` frames. Returns whether that is possible.
    mutating func acknowledge(_ count: UInt64) -> Bool {
        guard count <= sent else { return false }
        while acknowledged < count, let frame = frames.popFirst() {
            acknowledged += 1
            byteCount -= frame.byteCount
            cursor = max(0, cursor - 1)
        }
        return true
    }

    /// Begins to send again after the frames that the peer has received. Returns whether its number is possible.
    mutating func resume(from count: UInt64) -> Bool {
        guard count >= acknowledged, acknowledge(count) else { return false }
        cursor = 0
        return true
    }
}
