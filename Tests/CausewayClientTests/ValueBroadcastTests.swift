import CausewaySystem
import Testing

@testable import CausewayClient

@Suite("Client: sequences of a changing value")
struct ValueBroadcastTests {
    /// A number that changes during a read: while it is read for the first time, another thread increments it.
    private final class Number: Sendable {
        let broadcast = ValueBroadcast<Int>()
        private let state = LockedValue((value: 1, isRead: false))

        func read() -> Int {
            let (value, isFirst) = state.withLock { state in
                defer { state.isRead = true }
                return (state.value, !state.isRead)
            }
            if isFirst { increment() }
            return value
        }

        func increment() {
            state.withLock { $0.value += 1 }
            broadcast.changed { read() }
        }
    }

    @Test("A sequence begins with the value after a change that happens while the sequence is made")
    func begins() async {
        let number = Number()
        var values = number.broadcast.stream { number.read() }.makeAsyncIterator()
        let first = await values.next()
        #expect(first == 2)
    }

    @Test("A value that was read before a change does not follow the value after it")
    func order() async {
        let number = Number()
        var values = number.broadcast.stream { 0 }.makeAsyncIterator()
        number.broadcast.changed { number.read() }
        let latest = await values.next()
        #expect(latest == 2)
    }

    @Test("All sequences get each value, and end with the broadcast")
    func ends() async {
        var broadcast: ValueBroadcast<Int>? = ValueBroadcast()
        let streams = (0..<2).compactMap { _ in broadcast?.stream { 1 } }
        broadcast?.changed { 2 }
        broadcast = nil
        for stream in streams {
            var values: [Int] = []
            for await value in stream { values.append(value) }
            #expect(values == [2])
        }
        #expect(streams.count == 2)
    }
}
