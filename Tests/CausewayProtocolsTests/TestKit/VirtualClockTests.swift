import CausewayTestKit
import Synchronization
import Testing

@Suite("Virtual clock")
struct VirtualClockTests {
    final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test("Closures run in the order of their deadlines, each at its own time")
    func order() {
        let clock = VirtualClock()
        let log = Log()
        for seconds in [3, 1, 2, 1] {
            clock.schedule(after: .seconds(seconds)) { log.note("\(seconds) at \(clock.now.offset)") }
        }
        #expect(clock.waitingCount == 4 && clock.nextDeadline?.offset == .seconds(1))
        clock.advance(by: .milliseconds(999))
        #expect(log.all.isEmpty)
        clock.advance(by: .seconds(2))
        #expect(log.all == ["1 at 1.0 seconds", "1 at 1.0 seconds", "2 at 2.0 seconds"])
        #expect(clock.now.offset == .milliseconds(2_999))
        #expect(clock.advanceToNextDeadline() && log.all.count == 4)
        #expect(!clock.advanceToNextDeadline() && clock.now.offset == .seconds(3))
    }

    @Test("A closure scheduled by another within the time runs in the same advance")
    func nested() {
        let clock = VirtualClock()
        let log = Log()
        clock.schedule(after: .seconds(1)) {
            clock.schedule(after: .seconds(1)) { log.note("inner at \(clock.now.offset)") }
        }
        clock.advance(by: .seconds(5))
        #expect(log.all == ["inner at 2.0 seconds"] && clock.now.offset == .seconds(5))
    }

    @Test("A cancelled closure never runs")
    func cancel() {
        let clock = VirtualClock()
        let log = Log()
        let timer = clock.schedule(after: .seconds(1)) { log.note("late") }
        #expect(clock.cancel(timer) && !clock.cancel(timer))
        clock.advance(by: .seconds(2))
        #expect(log.all.isEmpty)
    }

    @Test("A task sleeps until the clock is advanced")
    func sleeping() async throws {
        let clock = VirtualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
        while clock.waitingCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(59))
        #expect(clock.waitingCount == 1)
        clock.advance(by: .seconds(1))
        #expect(clock.waitingCount == 0)
        try await sleeper.value
    }

    @Test("A sleeping task can be cancelled")
    func cancelledSleep() async {
        let clock = VirtualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
        while clock.waitingCount == 0 { await Task.yield() }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let late = Task { try await clock.sleep(for: .seconds(60)) }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }
}
