/// A stage's events in order, and the key log lines that become events.
struct TLSEventQueue {
    private var events: [TLSEvent] = []
    private let keyLines = KeyLines()

    /// Whether the queue has no events. Key log lines are stored separately and do not count as events.
    var isEmpty: Bool { events.isEmpty }
    /// Whether there are key log lines. A handshake step on a background thread may be adding lines.
    var hasKeyLines: Bool { !keyLines.waiting.isEmpty }

    /// A closure that the engine calls with each key log line. During such a call, Swift's exclusivity rule forbids
    /// access to the queue, so the closure stores the lines in a separate object.
    var keyLog: (String) -> Void {
        { [keyLines] in keyLines.waiting = keyLines.waiting + [$0] }
    }

    mutating func append(_ event: TLSEvent) { events.append(event) }

    /// Moves all waiting TLS key log lines to the event queue. Do not call this while a part of the handshake runs on a
    /// background thread.
    mutating func collectKeyLines() {
        guard hasKeyLines else { return }
        for line in keyLines.waiting { events.append(.keyLog(line)) }
        keyLines.waiting = []
    }

    mutating func popFirst() -> TLSEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// Key log lines not yet reported.
    private final class KeyLines {
        var waiting: [String] = []
    }
}
