@testable import CausewayBonjour
import Causeway
import Dispatch
import Testing

@Suite("Pending events of a program")
struct PendingEventsTests {
    private typealias Change = ServiceDiscovery.Change<Int>

    @Test("C112: each event states whether more are pending")
    func more() {
        var pending = PendingEvents<Change>()
        for number in 0..<3 { pending.add(.added(number)) }
        var told: [(Change, Bool)] = []
        while let (event, moreComing) = pending.take() { told.append((event, moreComing)) }
        #expect(told.map(\.0) == [.added(0), .added(1), .added(2)])
        #expect(told.map(\.1) == [true, true, false])
    }

    @Test("C115: a service that is added and removed, or removed and added, before it is reported is not reported")
    func flicker() {
        var pending = PendingEvents<Change>()
        pending.add(.added(1))
        pending.add(.added(2))
        pending.add(.removed(1))
        #expect(pending.take()?.event == .added(2))
        pending.add(.removed(2))
        pending.add(.added(2))
        #expect(pending.take() == nil && pending.isEmpty)
    }

    @Test("The number of pending events is bounded by the number of services, with any number of changes")
    func bounded() {
        var pending = PendingEvents<Change>()
        for step in 0..<10_000 { pending.add(step % 2 == 0 ? .added(step / 2 % 7) : .removed(step / 2 % 7)) }
        #expect(pending.count <= 7)
    }

    @Test(
        "C112: a handler is called on its queue, in order, and knows when to update its display; it is not called after a stop"
    )
    func calls() async throws {
        let source = DiscoverySource<Change> { report in
            report(.success((0..<5).map { .added($0) }))
            return {}
        }
        let queue = DispatchQueue(label: "test")
        let (told, feed) = AsyncStream<(Change, Bool)>.makeStream()
        let operation = source.calls(on: queue) { result, moreComing in
            dispatchPrecondition(condition: .onQueue(queue))
            if case .success(let change) = result { feed.yield((change, moreComing)) }
            if !moreComing { feed.finish() }
        }
        var all: [(Change, Bool)] = []
        for await one in told { all.append(one) }
        #expect(all.map(\.0) == (0..<5).map { .added($0) } && all.map(\.1) == [true, true, true, true, false])
        operation.stop()
    }

    @Test("C119: a failure is reported once, after earlier events, and ends the sequence")
    func failure() async throws {
        let source = DiscoverySource<Change> { report in
            report(.success([.added(1)]))
            report(.failure(.posix(.ECONNREFUSED)))
            return {}
        }
        var told: [Change] = []
        await #expect(throws: NWError.posix(.ECONNREFUSED)) {
            for try await change in source.sequence() { told.append(change) }
        }
        #expect(told == [.added(1)])
    }

    @Test("C119: releasing a sequence ends its source, once")
    func end() async throws {
        let (ended, feed) = AsyncStream<Int>.makeStream()
        let source = DiscoverySource<Change> { report in
            report(.success([.added(1)]))
            return {
                feed.yield(1)
                feed.finish()
            }
        }
        func first() async throws -> Change? {
            for try await change in source.sequence() { return change }
            return nil
        }
        #expect(try await first() == .added(1))
        #expect(await ended.reduce(0, +) == 1)
    }

    @Test("C119: a cancelled task does not wait, and receives nothing")
    func cancelled() async throws {
        let source = DiscoverySource<Change> { _ in {} }
        let task = Task {
            var told = 0
            for try await _ in source.sequence() { told += 1 }
            return told
        }
        task.cancel()
        #expect(try await task.value == 0)
    }
}
