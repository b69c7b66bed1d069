import CausewaySystem
import Foundation
import Testing

@Suite("System")
struct SystemTests {
    @Test("The clock does not go back")
    func clock() {
        var last = System.now
        for _ in 0..<1_000 {
            let now = System.now
            #expect(now >= last)
            last = now
        }
        #expect(System.now > .zero)
    }

    @Test("Resident memory grows with touched pages")
    func residentMemory() async {
        // Measure in a separate process, because other tests change the memory in use at the same time.
        await #expect(processExitsWith: .success) {
            let before = System.residentMemory
            #expect(before.current > 1 << 20 && before.peak >= before.current)
            let count = 64 << 20
            let block = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 4_096)
            memset(block, 1, count)
            let during = System.residentMemory
            block.deallocate()
            // The kernel updates its counts in batches per thread, so they are slightly too small.
            #expect(during.current > before.current + count / 2)
            #expect(System.residentMemory.peak >= before.current + count / 2)
        }
    }

    @Test("Processors are counted")
    func processors() { #expect((1...4_096).contains(System.processorCount)) }

    @Test("A thread runs its body with its name and with every signal blocked")
    func thread() async throws {
        let (name, blocksSignals): (String, Bool) = try await withCheckedThrowingContinuation { continuation in
            do {
                try System.startThread(named: "machine-test") {
                    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                    var blocked = sigset_t()
                    pthread_sigmask(SIG_BLOCK, nil, &blocked)
                    continuation.resume(
                        returning: (
                            name ?? "", sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1
                        ))
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(name == "machine-test\n" && blocksSignals)
    }

    struct DurationRow: Sendable {
        var duration: Duration
        var nanoseconds: Int64
    }

    static let durations = [
        DurationRow(duration: .zero, nanoseconds: 0),
        DurationRow(duration: .milliseconds(1_500), nanoseconds: 1_500_000_000),
        DurationRow(duration: .milliseconds(-1_500), nanoseconds: -1_500_000_000),
        DurationRow(duration: .nanoseconds(7), nanoseconds: 7),
        DurationRow(duration: .seconds(Int64.max), nanoseconds: .max),
        DurationRow(duration: .seconds(Int64.min), nanoseconds: .min),
        DurationRow(duration: .nanoseconds(Int64.max), nanoseconds: .max),
        DurationRow(duration: .seconds(9_223_372_036) + .milliseconds(999), nanoseconds: .max),
        DurationRow(duration: .seconds(-9_223_372_036) - .milliseconds(999), nanoseconds: .min),
    ]

    @Test("Durations are converted to nanoseconds, clamped and without traps", arguments: durations)
    func nanoseconds(_ row: DurationRow) { #expect(row.duration.nanoseconds == row.nanoseconds) }
}

@Suite("Thread-local storage")
struct ThreadLocalTests {
    @Test("A thread keeps its block until the block is taken, and then gets another")
    func scratch() {
        let first = ThreadLocal.scratch.baseAddress
        #expect(ThreadLocal.scratch.baseAddress == first && first != nil)
        let taken = ThreadLocal.takeScratch()
        defer { free(taken) }
        #expect(taken == first && ThreadLocal.scratch.baseAddress != first)
        memset(taken, 3, ThreadLocal.scratch.count)
    }
}
