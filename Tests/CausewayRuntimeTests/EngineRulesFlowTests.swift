import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

/// Tests the engine's rules that concern a single flow. If the engine breaks a rule, the test for this rule fails.
extension Runtime {
    @Suite("Engine rules: flow")
    struct EngineRulesFlowTests {
        @Test("Rule 1: no system call under a lock that the loop takes")
        func noSystemCallUnderLock() {
            let stage = Stage()
            let calls = Log()
            // Call the flow during a system call, as other threads may do. If the flow held a lock there, the calls
            // would deadlock.
            let everything: @Sendable (IOResult) -> Void = { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.duringWrites(nil)
                stage.flow.ready(for: .stream)
                stage.flow.receive(minimum: 1, maximum: 1) { _ in }
                stage.flow.send(Outbound(Data("y".utf8), waiter: .unobserved))
                _ = stage.flow.transferred
                calls.note("done")
            }
            stage.kernel.duringReads(everything)
            stage.receive("1", 1, 9)
            stage.arrive("abc")
            stage.kernel.duringWrites(everything)
            stage.send("2", "x")
            #expect(calls.all == ["done", "done"])
            #expect(stage.log.all == ["1 'abc'", "2 sent"])
            #expect(stage.kernel.written.sorted() == Array("xyy".utf8))
        }

        @Test("Rule 2: an edge during a read is not lost")
        func edgeDuringRead() {
            let stage = Stage()
            stage.receive("1", 6, 6)
            // The first read returns three bytes. Three more bytes arrive before the flow processes the first three.
            // They trigger a second readiness event during the read.
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.arrive("def".utf8)
                stage.flow.ready(for: .readable)
            }
            stage.arrive("abc")
            #expect(stage.log.all == ["1 'abcdef'"])
        }

        @Test("Rule 2: an edge during a read without data is not lost")
        func edgeDuringEmptyRead() {
            let stage = Stage()
            stage.receive("1", 1, 9)
            stage.kernel.duringReads { [unowned stage] result in
                guard result == .wouldBlock else { return }
                stage.kernel.duringReads(nil)
                stage.kernel.arrive("abc".utf8)
                stage.flow.ready(for: .readable)
            }
            stage.edge(.readable)
            #expect(stage.log.all == ["1 'abc'"])
        }

        @Test("Rule 2: a full read is followed by another")
        func fullRead() {
            let stage = Stage()
            let count = 600_000
            stage.kernel.arrive([UInt8](repeating: 1, count: count))
            stage.flow.receive(minimum: count, maximum: count) { [log = stage.log] in log.note("\($0.data?.count ?? 0)")
            }
            // The kernel sends only one report for the arrival of all data.
            stage.edge(.readable)
            #expect(stage.log.all == ["\(count)"])
        }

        @Test("Rule 3: an end that arrives with data is not lost")
        func endWithData() {
            let stage = Stage()
            stage.receive("1", 1, 9)
            stage.kernel.arrive("abc".utf8)
            stage.kernel.end()
            // One event reports both the data and the end of the stream.
            stage.edge([.readable, .peerClosed])
            stage.receive("2", 1, 9)
            #expect(stage.log.all == ["1 'abc'", "2 complete final"])
        }

        @Test("Rule 3: an end that arrives during the read of the data is not lost")
        func endDuringRead() {
            let stage = Stage()
            stage.receive("1", 1, 9)
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.end()
                stage.flow.ready(for: [.readable, .peerClosed])
            }
            stage.arrive("abc")
            stage.receive("2", 1, 9)
            #expect(stage.log.all == ["1 'abc'", "2 complete final"])
        }

        @Test("A failure during a read is left to that read, which would otherwise see an end instead")
        func failureDuringRead() {
            let stage = Stage()
            stage.receive("1", 9, 9)
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.failReads(ECONNRESET)
                stage.flow.ready(for: [.readable, .failed, .hangUp])
            }
            stage.arrive("abc")
            #expect(stage.log.all == ["1 'abc' error \(ECONNRESET)", "failed \(ECONNRESET)"])
        }

        @Test("A failure during the last requested read is noticed")
        func failureDuringLastRead() {
            let stage = Stage()
            stage.receive("1", 1, 9)
            stage.kernel.duringReads { [unowned stage] _ in
                stage.kernel.duringReads(nil)
                stage.kernel.failReads(ECONNRESET)
                stage.flow.ready(for: [.readable, .failed, .hangUp])
            }
            stage.arrive("abc")
            #expect(stage.log.all == ["1 'abc'", "failed \(ECONNRESET)"])
        }

        @Test("Rule 4: room that appears during a failing write is not lost")
        func roomDuringBlockedWrite() {
            let stage = Stage(room: 0)
            stage.kernel.duringWrites { [unowned stage] result in
                guard result == .wouldBlock else { return }
                stage.kernel.duringWrites(nil)
                // The peer reads all bytes before the flow has processed the result of its write. The flow gets only
                // this one report that it can write again.
                stage.kernel.room = 100
                stage.flow.ready(for: .writable)
            }
            stage.send("1", "abc")
            #expect(stage.log.all == ["1 sent"])
        }

        @Test("Rule 4: room that appears during a short write is not lost")
        func roomDuringShortWrite() {
            let stage = Stage(room: 1)
            stage.kernel.duringWrites { [unowned stage] _ in
                stage.kernel.duringWrites(nil)
                stage.kernel.room = 100
                stage.flow.ready(for: .writable)
            }
            stage.send("1", "abc")
            #expect(stage.log.all == ["1 sent"] && stage.kernel.written == Array("abc".utf8))
        }

        @Test("Rule 4: room that appears during a task's first write is not lost", arguments: [0, 1])
        func roomDuringImmediateWrite(_ room: Int) async {
            let stage = Stage(room: room)
            stage.kernel.duringWrites { [unowned stage] _ in
                stage.kernel.duringWrites(nil)
                stage.kernel.room = 100
                stage.flow.ready(for: .writable)
            }
            let task = stage.task { [stage] in
                stage.log.note(Stage.line("1", await stage.flow.send(Data("abc".utf8))))
            }
            #expect(stage.log.all == ["1 sent"] && stage.kernel.written == Array("abc".utf8))
            stage.edge(.writable)
            await task.value
        }

        @Test("Rule 6: a flow that always has data to read yields to the queue's other work")
        func readBudgetOnQueue() {
            let stage = Stage()
            // The minimum and maximum size of each read in bytes.
            let block = 16 << 10
            stage.kernel.arrive([UInt8](repeating: 0, count: 1_000 * block))
            let reads = Log()
            for _ in 0..<1_000 {
                stage.flow.receive(minimum: block, maximum: block) { [unowned stage, queue = stage.queue] _ in
                    guard reads.count == 0 else { return }
                    reads.note("first answer")
                    queue.async { reads.note("\(stage.kernel.reads.count)") }
                }
            }
            stage.edge(.readable)
            #expect(stage.kernel.reads == Array(repeating: .moved(block), count: 1_000))
            let whenPassed = reads.all.last.flatMap { Int($0) }
            #expect(
                (whenPassed ?? .max) < 500, "the queue's other work waited for \(String(describing: whenPassed)) reads")
        }

        @Test("Rule 6: a flow that always has data to read yields to the loop's other work")
        func readBudgetOnLoop() async {
            let stage = Stage()
            let block = 16 << 10
            let tasks = (0..<40).map { _ in
                stage.task { [stage] in
                    let content = await stage.flow.receive(minimum: block, maximum: block)
                    stage.log.note("\((try? content.get())?.count ?? 0)")
                }
            }
            stage.kernel.arrive([UInt8](repeating: 0, count: 40 * block))
            stage.loop.batch { stage.flow.ready(for: .readable) }
            let readsInOneTurn = stage.kernel.reads.count
            #expect(readsInOneTurn > 0 && readsInOneTurn <= 16)
            stage.settle()
            for task in tasks { await task.value }
            #expect(stage.log.all == Array(repeating: "\(block)", count: 40))
        }

        @Test("Rule 8: small content is copied from the thread's block, large content takes the block")
        func blocks() {
            #expect(Self.keepsBlock(reading: 1_000))
            #expect(!Self.keepsBlock(reading: 200_000))
        }

        /// Whether this thread keeps its read buffer after a read of `count` bytes.
        private static func keepsBlock(reading count: Int) -> Bool {
            // Let the receive call wait before data arrives. The read then runs on this thread, as it does for a task.
            let loop = ManualLoop()
            let kernel = ScriptedKernel()
            let flow = Flow(loop: loop, kind: .stream)
            flow.attach(.scripted(kernel), owner: Stage().owner)
            kernel.arrive(repeatElement(7, count: count))
            let content = LockedValue<Data?>(nil)
            let hasCome = DispatchSemaphore(value: 0)
            flow.ready(for: .readable)
            flow.begin()
            let before = ThreadLocal.scratch.baseAddress
            flow.receive(minimum: count, maximum: count) { received in
                content.withLock { $0 = received.data }
                hasCome.signal()
            }
            let isKept = ThreadLocal.scratch.baseAddress == before
            // Simulate the next read on this thread, which overwrites its buffer. The content that was already
            // delivered must not change.
            memset(ThreadLocal.scratch.baseAddress!, 9, 1_000)
            hasCome.wait()
            #expect(content.withLock { $0?.count == count && $0?.first == 7 && $0?.last == 7 } == true)
            _ = flow.close(abortively: false, owner: Stage().owner)
            return isKept
        }

        @Test("Rule 9: one dispatch for a queue and a batch of events, at the end of the batch")
        func oneDispatch() {
            let loop = ManualLoop()
            let queue = DispatchQueue(label: "shared", target: .global())
            let log = Log()
            let delivery = SharedDelivery.on(queue).delivery
            let stages = (0..<50).map { _ in (kernel: ScriptedKernel(), flow: Flow(loop: loop, kind: .stream)) }
            let owner = Stage.Owner(log, delivery)
            for (kernel, flow) in stages {
                flow.deliver(on: delivery)
                flow.attach(.scripted(kernel), owner: owner)
                flow.begin()
                flow.receive(minimum: 1, maximum: 9) { _ in log.note("answer") }
                kernel.arrive("x".utf8)
            }
            queue.sync {}
            loop.batch {
                for (index, stage) in stages.enumerated() {
                    stage.flow.ready(for: .readable)
                    // If the results were dispatched separately, this block would run after the first results. The test
                    // detects this.
                    if index == 24 { queue.async { log.note("mark") } }
                }
                queue.sync {}
            }
            queue.sync {}
            #expect(log.all == ["mark"] + Array(repeating: "answer", count: 50))
        }

        @Test("Rule 10: a backlog is sent in one gathered call")
        func gathering() {
            let stage = Stage(room: 0)
            for number in 0..<20 { stage.send("\(number)", "ab") }
            stage.addRoom(1_000)
            #expect(stage.kernel.writes.last == .init(pieceCount: 20, offered: 40, result: .moved(40)))
            #expect(stage.log.count == 20)
        }
    }
}
