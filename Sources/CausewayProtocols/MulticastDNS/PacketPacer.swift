internal import DequeModule

/// Sends what comes in bursts at a pace that receivers' socket buffers survive: thousands of services announce themselves at once, and all
/// of them are asked for at once.
///
/// It reads no clock. What others on the link ask for makes the queue no longer: each record is in it once a second at most.
package struct PacketPacer: Sendable {
    /// Messages that go at once after a silence.
    package static let burst = 48
    /// And how many a second after those.
    package static let rate = 1_500

    private var waiting = Deque<[UInt8]>()
    /// Messages that may go now, as of `lastTime`.
    private var credit = Double(Self.burst)
    private var lastTime: Duration = .zero

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }

    package mutating func add(_ message: [UInt8]) { waiting.append(message) }

    /// What may go now.
    package mutating func take(at now: Duration) -> [[UInt8]] {
        let passed = max(now - lastTime, .zero) / .seconds(1)
        lastTime = now
        credit = min(credit + passed * Double(Self.rate), Double(Self.burst))
        var messages: [[UInt8]] = []
        while credit >= 1, let message = waiting.popFirst() {
            messages.append(message)
            credit -= 1
        }
        return messages
    }

    /// When more may go; `nil` where nothing waits. Some at a time: each turn of a clock costs as well.
    package var nextDeadline: Duration? {
        waiting.isEmpty ? nil : lastTime + .milliseconds(10)
    }
}
