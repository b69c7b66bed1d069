import CausewayRuntime
import CausewayTypes
import FoundationEssentials
import Synchronization
import Testing

extension Runtime {
    @Suite("Deferred wake-ups of a loop")
    struct DeferredWakeupsTests {
        /// The test runs with 1, 4 and 100 tasks. With 4 or more tasks, a thread from a pool resumes them. 100 tasks
        /// are more than this thread resumes at a time.
        @Test(
            "Each task that waits on another thread gets its own content", arguments: LoopUnderTest.allCases,
            [1, 4, 100])
        func tasks(_ kind: LoopUnderTest, _ count: Int) async throws {
            let waiting = WaitingTasks(count, kind.loop)
            try await withThrowingTaskGroup(of: UInt8?.self) { group in
                for number in 0..<UInt8(count) {
                    group.addTask {
                        let data = try await waiting.wait(number)
                        #expect(!waiting.loop.isCurrent)
                        return data == Data([number]) ? number : nil
                    }
                }
                let told = try await group.reduce(into: Set<UInt8>()) { told, number in
                    if let number { told.insert(number) }
                }
                #expect(told.count == count)
            }
        }

        @Test("A task that runs as soon as it is resumed may trigger the next", arguments: LoopUnderTest.allCases)
        func chain(_ kind: LoopUnderTest) async throws {
            let chain = WaitingChain(length: 20, kind.loop)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<chain.length {
                    group.addTask(executorPreference: Immediate.executor) { try await chain.wait(number) }
                }
                try await group.waitForAll()
            }
            #expect(chain.resumed == Array(0..<chain.length))
        }

        @Test("A loop yields after batches, but not after single events")
        func batches() {
            let yieldPolicy = YieldPolicy()
            #expect(!yieldPolicy.isDue(eventCount: 0, at: .seconds(5)))
            #expect(!yieldPolicy.isDue(eventCount: 1, at: .seconds(5)))
            #expect(yieldPolicy.isDue(eventCount: 2, at: .seconds(5)))
            #expect(yieldPolicy.isDue(eventCount: 256, at: .seconds(5)))
        }

        @Test("After a task has kept the processor longer than its work explains, the loop does not yield for a while")
        func patience() {
            var yieldPolicy = YieldPolicy()
            yieldPolicy.note(eventCount: 4, from: .seconds(5), to: .seconds(5) + .microseconds(1_200))
            #expect(yieldPolicy.isDue(eventCount: 4, at: .seconds(6)))
            yieldPolicy.note(eventCount: 256, from: .seconds(6), to: .seconds(6) + .milliseconds(13))
            #expect(yieldPolicy.isDue(eventCount: 4, at: .seconds(7)))
            let end = Duration.seconds(7) + .microseconds(1_201)
            yieldPolicy.note(eventCount: 4, from: .seconds(7), to: end)
            #expect(!yieldPolicy.isDue(eventCount: 256, at: end + .microseconds(3_999)))
            #expect(yieldPolicy.isDue(eventCount: 4, at: end + .milliseconds(4)))
        }

        @Test("The pause grows to one second beside a busy thread, and shrinks after it")
        func pause() {
            var yieldPolicy = YieldPolicy()
            var now = Duration.seconds(1)
            func pauses(_ count: Int, wait: Duration) -> [Duration] {
                (0..<count).map { _ in
                    yieldPolicy.note(eventCount: 4, from: now, to: now + wait)
                    now += wait
                    let end = now
                    while !yieldPolicy.isDue(eventCount: 4, at: now) { now += .milliseconds(4) }
                    return now - end
                }
            }
            let late = pauses(10, wait: .milliseconds(3))
            #expect(late == [4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000].map { Duration.milliseconds($0) })
            #expect(pauses(6, wait: .microseconds(10)) == Array(repeating: .zero, count: 6))
            #expect(pauses(1, wait: .milliseconds(3)) == [.milliseconds(16)])
        }
    }
}

/// A set of suspended tasks. When the last task suspends, the loop resumes all of them in one turn.
private final class WaitingTasks: Sendable {
    let loop: any EventLoop
    private let count: Int
    private let waiting = Mutex<[(UInt8, TaskContinuation)]>([])

    init(_ count: Int, _ loop: any EventLoop) {
        self.count = count
        self.loop = loop
    }

    func wait(_ number: UInt8) async throws -> Data? {
        try await withUnsafeContinuation { (continuation: TaskContinuation) in
            let isLast = waiting.withLock { waiting in
                waiting.append((number, continuation))
                return waiting.count == count
            }
            if isLast { loop.execute { self.resumeAll() } }
        }.get().data
    }

    private func resumeAll() {
        let all = waiting.withLock { $0 }
        for (number, continuation) in all {
            let piece = StreamPiece(data: Data([number]), isFinal: false)
            loop.resumeAfterBatch(.receive(continuation, piece))
        }
    }
}

/// A chain of suspended tasks. When a task resumes, it makes the loop resume the next task.
private final class WaitingChain: Sendable {
    let length: Int
    private let loop: any EventLoop
    private let waiting = Mutex<[Int: TaskContinuation]>([:])
    private let order = Mutex<[Int]>([])

    init(length: Int, _ loop: any EventLoop) {
        self.length = length
        self.loop = loop
    }

    var resumed: [Int] { order.withLock { $0 } }

    func wait(_ number: Int) async throws {
        _ = try await withUnsafeContinuation { (continuation: TaskContinuation) in
            let isLast = waiting.withLock { waiting in
                waiting[number] = continuation
                return waiting.count == length
            }
            if isLast { loop.execute { self.resume(0) } }
        }.get()
        order.withLock { $0.append(number) }
        resume(number + 1)
    }

    private func resume(_ number: Int) {
        guard let continuation = waiting.withLock({ $0[number] }) else { return }
        loop.resumeAfterBatch(.receive(continuation, StreamPiece(data: Data(), isFinal: false)))
    }
}

/// Runs each job inside the enqueueing call.
private final class Immediate: TaskExecutor {
    static let executor = Immediate()

    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
