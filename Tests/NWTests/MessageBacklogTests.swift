import CausewayTypes
import Testing

@testable import nw

/// Tests the `nw group` messages that wait for standard output.
@Suite("Waiting messages")
struct MessageBacklogTests {
    @Test("A flood of messages is bounded, and only the first drop is reported", arguments: [0, 1, 60_000])
    func flood(_ byteCount: Int) {
        let backlog = MessageBacklog()
        let message = PrintableText(foreign: String(repeating: "a", count: byteCount))
        var admitted = 0
        while admitted < 100_000, backlog.add(message) == .admitted { admitted += 1 }
        #expect(admitted > 0 && admitted * max(byteCount, 100) <= MessageBacklog.limit)
        let second = backlog.add(message)
        #expect(second == .dropped)
        backlog.remove(message)
        let (next, last) = (backlog.add(message), backlog.add(message))
        #expect(next == .admitted && last == .dropped)
    }
}
