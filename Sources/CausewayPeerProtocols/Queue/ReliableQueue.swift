/// Numbered frames in both directions: counts, acknowledgments, and the credit for messages.
struct ReliableQueue: Sendable {
    private(set) var log = NumberedLog()
    private var schedule = AcknowledgmentSchedule()
    private var credit = MessageCredit()
    /// The number of numbered frames received.
    private(set) var received: UInt64 = 0

    var sentCount: UInt64 { log.sent }
    var isReplaying: Bool { log.isReplaying }
    var deadline: Duration? { schedule.deadline }
    /// Whether frames with content may be sent. Control frames do not wait.
    var hasRoom: Bool { log.byteCount < PeerLimits.window }

    // Sending

    mutating func record(_ frame: PeerFrame) -> PeerFrame {
        var numbered = frame
        numbered.flags.insert(.numbered)
        log.append(numbered)
        return numbered
    }

    mutating func nextReplay() -> PeerFrame? { log.nextReplay() }

    /// Bytes of messages that the peer permits.
    var messageRoom: Int { hasRoom ? credit.room : 0 }

    mutating func sentMessageBytes(_ count: Int) { credit.sent(count) }

    // Acknowledgments

    /// The frame to send if one is due.
    mutating func acknowledgment(at now: Duration, isForced: Bool = false) -> PeerFrame? {
        guard isForced || schedule.isDue(at: now) else { return nil }
        schedule.reset()
        return PeerFrame(.acknowledgment, fields: PeerFields().with(1, received).with(2, credit.grant()))
    }

    /// Returns whether the content is possible.
    mutating func acknowledged(_ payload: [UInt8]) throws(PeerFields.Malformed) -> Bool {
        let fields = try PeerFields(payload)
        let count: UInt64 = try fields.require(try fields.integer(1), "count")
        let limit: UInt64 = try fields.require(try fields.integer(2), "limit")
        credit.limitArrived(limit)
        return log.acknowledge(count)
    }

    mutating func resume(from count: UInt64) -> Bool {
        schedule.owe(frames: AcknowledgmentSchedule.frameCount, bytes: 0, at: .zero)
        return log.resume(from: count)
    }

    // Receiving

    mutating func frameArrived(_ byteCount: Int, at now: Duration) {
        received += 1
        schedule.owe(frames: 1, bytes: byteCount, at: now)
    }

    /// Bytes of a message arrived. Returns whether the peer keeps to the limit it was granted.
    mutating func messageBytesArrived(_ count: Int) -> Bool { credit.arrived(count) }

    mutating func messageDelivered(_ count: Int) { credit.delivered(count) }

    mutating func consumed(_ count: Int, at now: Duration) {
        // A peer that waits for credit gets it at once.
        if credit.consumed(count) { schedule.owe(frames: AcknowledgmentSchedule.frameCount, bytes: 0, at: now) }
    }
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

/// Bytes of messages that may be sent, as a total since the start: what arrived, less what the program has not taken, plus the window.
private struct MessageCredit: Sendable {
    private var sentCount: UInt64 = 0
    private var limit = UInt64(PeerLimits.window)
    private var arrivedCount: UInt64 = 0
    private var outstanding: UInt64 = 0
    private var granted = UInt64(PeerLimits.window)

    var room: Int { limit > sentCount ? Int(clamping: limit - sentCount) : 0 }

    mutating func sent(_ count: Int) { sentCount += UInt64(count) }
    mutating func limitArrived(_ value: UInt64) { limit = max(limit, value) }

    mutating func arrived(_ count: Int) -> Bool {
        arrivedCount += UInt64(count)
        return arrivedCount <= granted
    }

    mutating func delivered(_ count: Int) { outstanding += UInt64(count) }

    /// Returns whether the peer may be waiting for credit that is now available.
    mutating func consumed(_ count: Int) -> Bool {
        let before = available
        outstanding -= min(outstanding, UInt64(max(0, count)))
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
