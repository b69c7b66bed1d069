import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("Actions of a peer's node")
struct NodeActionTests {
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        var all: [String] { entries.withLock { $0 } }

        func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    @Test("Actions of several threads are performed once, in the order of their transitions")
    func order() throws {
        let node = try SimulatedMember.node()
        let count = Mutex(0)
        let performed = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<500 {
                node.apply { core, _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    core.request(.run { performed.withLock { $0.append(number) } })
                }
            }
        }
        #expect(performed.withLock { $0 } == Array(1...4_000))
    }

    @Test("An action that calls the node gets its result at once, and overtakes no action that was requested before")
    func nested() throws {
        let node = try SimulatedMember.node()
        let log = Log()
        node.apply { core, _ in
            core.request(
                .run {
                    let isSettled = node.apply { core, _ in
                        core.request(.run { log.note("third") })
                        return core.service.phase == .settled
                    }
                    log.note(isSettled ? "first" : "no result")
                })
            core.request(.run { log.note("second") })
        }
        #expect(log.all == ["first", "second", "third"])
    }

    @Test("While an action runs, another thread can change the state, and leaves its actions to the first thread")
    func others() throws {
        let node = try SimulatedMember.node()
        let log = Log()
        node.apply { core, _ in
            core.request(
                .run {
                    let isDone = DispatchSemaphore(value: 0)
                    DispatchQueue.global().async {
                        node.apply { core, _ in core.request(.run { log.note("second") }) }
                        isDone.signal()
                    }
                    isDone.wait()
                    log.note("first")
                })
        }
        #expect(log.all == ["first", "second"])
    }

    @Test("A send that waits goes on when its member took the queue, or ends with its task", arguments: [false, true])
    func waits(isCancelled: Bool) async throws {
        let node = try SimulatedMember.node(queueLimit: 1_000)
        let group = PeerGroup(node, queue: DispatchQueue(label: "group")) { _ in }
        let bob = try SimulatedMember(of: group)
        let identity = bob.identity
        let (suspensions, continuation) = AsyncStream.makeStream(of: Void.self)
        group.onSuspendedSend { continuation.yield() }
        try await group.send(Data(count: 1_000), to: [identity])
        let sending = Task { try await group.send(Data(count: 1_000), to: [identity]) }
        for await _ in suspensions { break }
        if isCancelled {
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        } else {
            bob.exchange()
            try await sending.value
        }
    }
}
