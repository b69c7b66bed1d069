import CausewaySystem
import Dispatch
import Testing

@Suite("A state whose actions run in order")
struct SequencedStateTests {
    private struct Counter: SequencedState {
        var value = 0
        var actions: [Int] = []
        var line = ActionLine<Int>()

        mutating func request() {
            actions.append(value)
            value += 1
        }

        mutating func queueActions() -> Bool { !actions.isEmpty && line.move(&actions) }
    }

    @Test("Actions run without the lock, in order, and the result is that of the change")
    func order() {
        let state = LockedValue(Counter())
        var performed: [Int] = []
        let result = state.change { counter in
            counter.request()
            counter.request()
            return "changed"
        } perform: { action in
            #expect(state.withLock { $0.value } == 2)
            performed.append(action)
        }
        #expect(result == "changed")
        #expect(performed == [0, 1])
    }

    private struct Owned: ~Copyable, SequencedState {
        var requested: [Int] = []
        var line = ActionLine<Int>()

        mutating func queueActions() -> Bool { line.move(&requested) }
    }

    @Test("Actions of a state that cannot be copied run in order")
    func noncopyable() {
        let state = LockedValue(Owned())
        var performed: [Int] = []
        let count = state.change { owned in
            owned.requested = [1, 2]
            return owned.requested.count
        } perform: { action in
            performed.append(action)
        }
        #expect(count == 2)
        #expect(performed == [1, 2])
    }

    @Test("A change within an action does not recurse, and its actions run last")
    func nested() {
        let state = LockedValue(Counter())
        var performed: [Int] = []
        var depth = 0
        func change(_ count: Int) {
            state.change { counter in
                for _ in 0..<count { counter.request() }
            } perform: { action in
                depth += 1
                #expect(depth == 1)
                if action == 0 { change(2) }
                performed.append(action)
                depth -= 1
            }
        }
        change(2)
        #expect(performed == [0, 1, 2, 3])
    }

    @Test("A change without actions performs nothing, and the next one is not held up")
    func nothing() {
        let state = LockedValue(Counter())
        var performed: [Int] = []
        func change(_ body: (inout Counter) -> Void) { state.change(body) { performed.append($0) } }
        change { _ in }
        change { $0.request() }
        change { $0.request() }
        #expect(performed == [0, 1])
    }

    @Test("Changes of several threads perform each action once and in order")
    func threads() {
        let state = LockedValue(Counter())
        let performed = LockedValue<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<500 {
                state.change { counter in
                    counter.request()
                } perform: { action in
                    performed.withLock { $0.append(action) }
                }
            }
        }
        #expect(performed.withLock { $0 } == Array(0..<4_000))
    }
}
