internal import CausewayTypes

/// The frames that this protocol counts and acknowledges, in both directions.
///
/// For these frames, the type keeps the counts, the acknowledgments, and the flow-control credit for messages. Its only
/// action is to acknowledge received frames. The acknowledgment is due at ``deadline``.
struct ReliableQueue: Sendable {
    private(set) var log = NumberedLog()
    private var schedule = AcknowledgmentSchedule()
    private var credit = MessageCredit()
    /// How many frames have been received. Includes only the frame types that are counted and acknowledged.
    private(set) var received: UInt64 = 0

    var sentCount: UInt64 { log.sent }
    var isReplaying: Bool { log.isReplaying }
    var deadline: Duration? { schedule.deadline }
    /// Whether frames with content may be sent. They may be sent while less than 4 MiB of sent content is
    /// unacknowledged. Control frames are always allowed.
    var hasRoom: Bool { log.byteCount < PeerLimits.window }

    // Sending of frames

    /// Marks a frame as numbered, and keeps it until the peer acknowledges it.
    mutating func record(_ frame: PeerFrame) -> PeerFrame {
        var numbered = frame
        numbered.flags.insert(.numbered)
        log.append(numbered)
        return numbered
    }

    mutating func nextReplay() -> PeerFrame? { log.nextReplay() }

    /// Whether a frame with `count` message bytes may be sent now. `count` can be 0.
    func permits(messageBytes count: Int) -> Bool { hasRoom && credit.permits(count) }

    /// Records that a frame with `count` message bytes was sent. The peer then permits `count` bytes less.
    mutating func sentMessageBytes(_ count: Int) { credit.sent(count) }

    // Acknowledgments

    /// Returns the acknowledgment to send, if one is due.
    mutating func acknowledgment(at now: Duration) -> PeerFrame? {
        guard schedule.isDue(at: now) else { return nil }
        schedule.reset()
        return PeerFrame(.acknowledgment, fields: PeerFields().with(1, received).with(2, credit.grant()))
    }

    /// Handles an acknowledgment. Returns `false` if its count exceeds the number of frames sent.
    mutating func acknowledged(_ payload: [UInt8]) throws(PeerFields.Malformed) -> Bool {
        let fields = try PeerFields(payload)
        let count: UInt64 = try fields.require(try fields.integer(1), "count")
        let limit: UInt64 = try fields.require(try fields.integer(2), "limit")
        credit.limitArrived(limit)
        return log.acknowledge(count)
    }

    /// Retransmits over a new link, from the first frame that the peer has not received. Returns `false` if the peer
    /// cannot have received `count` frames.
    mutating func resume(from count: UInt64, at now: Duration) -> Bool {
        schedule.owe(frames: AcknowledgmentSchedule.frameCount, bytes: 0, at: now)
        return log.resume(from: count)
    }

    // Functions that count received frames

    mutating func frameArrived(_ byteCount: Int, at now: Duration) {
        received += 1
        schedule.owe(frames: 1, bytes: byteCount, at: now)
    }

    /// Counts a frame with message bytes. Returns `false` if the peer has sent more message bytes than this side has
    /// permitted.
    mutating func messageBytesArrived(_ count: Int) -> Bool { credit.arrived(count) }

    /// Records the size of a complete message that was delivered to the program.
    mutating func messageDelivered(_ count: Int) { credit.delivered(count) }

    /// Counts a message that the program has consumed.
    mutating func consumed(_ count: Int, at now: Duration) {
        // The peer may be waiting for credit. Send an acknowledgment with the new credit at once.
        if credit.consumed(count) { schedule.owe(frames: AcknowledgmentSchedule.frameCount, bytes: 0, at: now) }
    }
}

extension ReliableQueue: StateMachine {
    typealias Action = PeerFrame

    var hasEnded: Bool { false }

    mutating func takeActions(dueAt now: Duration) -> [PeerFrame] { acknowledgment(at: now).map { [$0] } ?? [] }
}

/// When an acknowledgment is sent: after 32 frames, 256 KiB, or 50 ms.
private struct AcknowledgmentSchedule: Sendable {
    static let frameCount = 32
    static let byteCount = 256 << 10

    private var frames = 0
    private var bytes = 0
    private(set) var deadline: Duration?

    mutating func owe(frames: Int, bytes: Int, at now: Duration) {
        self.frames += frames
        self.bytes += bytes
        let isFull = self.frames >= Self.frameCount || self.bytes >= Self.byteCount
        deadline = isFull ? now : deadline ?? now + PeerTimes.acknowledgment
    }

    func isDue(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }

    mutating func reset() { self = AcknowledgmentSchedule() }
}

/// Credit-based flow control for messages. The receiver grants a limit on the total bytes sent since the start. The
/// limit is the number of arrived bytes plus the free part of the window. Messages that the program has not consumed
/// occupy the window. Each frame, and each message that the program holds, counts ``PeerLimits/messageOverhead`` bytes
/// more.
private struct MessageCredit: Sendable {
    private var sentCount: UInt64 = 0
    private var limit = UInt64(PeerLimits.window)
    private var arrivedCount: UInt64 = 0
    private var outstanding: UInt64 = 0
    private var granted = UInt64(PeerLimits.window)

    private static func cost(of count: Int) -> UInt64 { UInt64(max(0, count) + PeerLimits.messageOverhead) }

    func permits(_ count: Int) -> Bool { sentCount + Self.cost(of: count) <= limit }

    mutating func sent(_ count: Int) { sentCount += Self.cost(of: count) }
    mutating func limitArrived(_ value: UInt64) { limit = max(limit, value) }

    mutating func arrived(_ count: Int) -> Bool {
        arrivedCount += Self.cost(of: count)
        return arrivedCount <= granted
    }

    mutating func delivered(_ count: Int) { outstanding += Self.cost(of: count) }

    /// Counts consumed bytes. Returns `true` if new credit is available and the peer may be waiting for it.
    mutating func consumed(_ count: Int) -> Bool {
        let before = available
        outstanding -= min(outstanding, Self.cost(of: count))
        let isLow = granted - min(granted, arrivedCount) < UInt64(PeerLimits.window) / 2
        return isLow && available > before && available >= granted + UInt64(PeerLimits.window) / 4
    }

    private var available: UInt64 {
        let window = UInt64(PeerLimits.window)
        return arrivedCount + (window > outstanding ? window - outstanding : 0)
    }

    mutating func grant() -> UInt64 {
        granted = max(granted, available)
        return granted
    }
}
