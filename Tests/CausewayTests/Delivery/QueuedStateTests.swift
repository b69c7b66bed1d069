import CausewaySystem
import Dispatch
import Testing

@testable import Causeway

@Suite("States that are reported on a queue")
struct QueuedStateTests {
    /// Notes the reports of a state.
    private final class Reports: Sendable {
        private let numbers = LockedValue<[Int]>([])

        var all: [Int] { numbers.withLock { numbers in numbers } }
        func note(_ number: Int) { numbers.withLock { numbers in numbers.append(number) } }
    }

    @Test("An abandoned state reports nothing that waits for the queue, also to a handler that is set later")
    func abandonment() {
        let (state, reports, queue) = (QueuedState(0), Reports(), DispatchQueue(label: "state"))
        state.handler = { number in reports.note(number) }
        let hasStarted = state.start(on: queue)
        queue.sync {
            state.move(to: 1)
            state.abandon()
            state.handler = { number in reports.note(number) }
            state.move(to: 2)
        }
        queue.sync {}
        #expect(hasStarted && state.hasEnded && state.current == 1)
        #expect(reports.all.isEmpty)
    }

    @Test("The final state is the last report")
    func end() {
        let (state, reports, queue) = (QueuedState(0), Reports(), DispatchQueue(label: "state"))
        state.handler = { number in reports.note(number) }
        _ = state.start(on: queue)
        queue.sync {
            state.move(to: 1)
            state.end(in: 2) { reports.note(-1) }
            state.move(to: 3)
            state.end(in: 4)
        }
        queue.sync {}
        #expect(reports.all == [1, 2, -1])
        #expect(state.hasEnded && state.current == 2)
    }
}
