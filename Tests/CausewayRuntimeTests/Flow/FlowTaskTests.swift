import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

/// Tests of send and receive requests for which a task is suspended. The tasks run on the loop's executor.
extension Runtime {
    @Suite("Flow: tasks")
    struct FlowTaskTests {
        static func receive(_ stage: Stage, _ name: String, _ minimum: Int, _ maximum: Int) -> Task<Void, Never> {
            stage.task { [stage] in
                stage.log.note(Stage.line(name, await stage.flow.receive(minimum: minimum, maximum: maximum)))
            }
        }

        @Test("Requests of tasks complete in order")
        func inOrder() async {
            let stage = Stage()
            let tasks = [(3, 3), (1, 1), (2, 9)].enumerated().map { Self.receive(stage, "\($0)", $1.0, $1.1) }
            stage.arrive("abcdef")
            for task in tasks { await task.value }
            #expect(stage.log.all.sorted() == ["0 'abc'", "1 'd'", "2 'ef'"])
        }

        @Test("Cancelling a task ends only its receive and loses no byte")
        func cancelOne() async {
            let stage = Stage()
            let tasks = [4, 4, 2].enumerated().map { Self.receive(stage, "\($0)", $1, $1) }
            stage.arrive("ab")
            tasks[1].cancel()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            stage.arrive("cdef")
            #expect(stage.log.all == ["1 error \(ECANCELED)", "0 'abcd'", "2 'ef'"])
        }

        @Test("Cancelling the oldest receive passes its content to the next")
        func cancelOldest() async {
            let stage = Stage()
            let big = Self.receive(stage, "big", 100, 100)
            let small = Self.receive(stage, "small", 3, 3)
            stage.arrive("abc")
            #expect(stage.log.all.isEmpty)
            big.cancel()
            stage.settle()
            #expect(stage.log.all == ["big error \(ECANCELED)", "small 'abc'"])
            // If the test fails, the task still waits. Close the flow to end it.
            stage.close()
            await small.value
        }

        @Test("A task that was cancelled before its receive gets no byte")
        func cancelledBefore() async {
            let stage = Stage()
            let task = Task(executorPreference: stage.loop.executor) { [stage] in
                stage.log.note(Stage.line("1", await stage.flow.receive(minimum: 1, maximum: 9)))
            }
            task.cancel()
            stage.settle()
            stage.arrive("abc")
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            stage.receive("2", 1, 9)
            #expect(stage.log.all == ["1 error \(ECANCELED)", "2 'abc'"])
            await task.value
        }

        @Test("Cancelling the home task ends only its receive, and loses no byte")
        func cancelHome() async {
            let stage = Stage()
            let home = stage.task { [stage] in
                stage.flow.makeHome()
                for call in ["1", "2"] {
                    stage.log.note(Stage.line(call, await stage.flow.receive(minimum: 3, maximum: 3)))
                }
                stage.flow.leaveHome()
            }
            let guest = Self.receive(stage, "guest", 1, 1)
            stage.arrive("ab")
            stage.flow.cancelHome()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)", "guest 'a'"])
            stage.arrive("cd")
            #expect(stage.log.all == ["1 error \(ECANCELED)", "guest 'a'", "2 'bcd'"])
            await home.value
            await guest.value
        }

        @Test("Cancelling a task whose receive has completed changes nothing")
        func cancelAfter() async {
            let stage = Stage()
            let task = Self.receive(stage, "1", 1, 9)
            stage.loop.batch {
                stage.kernel.arrive("abc".utf8)
                stage.flow.ready(for: .readable)
                // Cancel the task when its result is already on the way to it. The cancellation must not change this
                // result.
                task.cancel()
            }
            stage.settle()
            #expect(stage.log.all == ["1 'abc'"])
        }

        @Test("A send that fits does not suspend; one that does not waits for room")
        func sending() async {
            let stage = Stage(room: 4)
            let task = stage.task { [stage] in
                for text in ["abc", "def"] {
                    stage.log.note(Stage.line(text, await stage.flow.send(Data(text.utf8))))
                }
            }
            #expect(stage.log.all == ["abc sent"])
            #expect(stage.kernel.written == Array("abcd".utf8))
            stage.addRoom(9)
            #expect(stage.log.all == ["abc sent", "def sent"] && stage.kernel.written == Array("abcdef".utf8))
            await task.value
        }

        @Test("Many consecutive sends yield to other tasks")
        func burst() async {
            let stage = Stage()
            let sender = Task(executorPreference: stage.loop.executor) { [stage] in
                for _ in 0..<200 { _ = await stage.flow.send(Data("x".utf8)) }
                stage.log.note("sender \(stage.kernel.writes.count)")
            }
            let other = Task(executorPreference: stage.loop.executor) { [stage] in
                stage.log.note("other \(stage.kernel.writes.count < 200)")
            }
            stage.settle()
            #expect(stage.log.all == ["other true", "sender 200"])
            await sender.value
            await other.value
        }

        @Test("Many consecutive receives that complete at once yield to other tasks")
        func receiveBurst() async {
            let stage = Stage()
            let piece = 16_384
            stage.kernel.arrive(repeatElement(UInt8(ascii: "x"), count: 200 * piece))
            let receiver = Task(executorPreference: stage.loop.executor) { [stage] in
                var count = 0
                while count < 200 * piece {
                    guard case .success(let data?) = await stage.flow.receive(minimum: 1, maximum: piece) else { break }
                    count += data.count
                }
                stage.log.note("receiver \(count / piece)")
            }
            let other = Task(executorPreference: stage.loop.executor) { [stage] in
                stage.log.note("other \(stage.kernel.reads.count < 100)")
            }
            stage.edge(.readable)
            #expect(stage.log.all == ["other true", "receiver 200"])
            await receiver.value
            await other.value
        }

        @Test("Cancelling a receive that waits for others loses no byte")
        func cancelInBurst() async {
            let stage = Stage()
            let piece = 16_384
            stage.kernel.arrive(repeatElement(UInt8(ascii: "x"), count: 200 * piece))
            let count = LockedValue(0)
            let read: @Sendable () async -> Void = { [stage] in
                while count.withLock({ $0 < 200 * piece }) {
                    switch await stage.flow.receive(minimum: 1, maximum: piece) {
                    case .success(let data): count.withLock { $0 += data?.count ?? 0 }
                    case .failure(let failure): return stage.log.note("error \(failure.code)")
                    }
                }
                stage.log.note("read \(count.withLock { $0 } / piece)")
            }
            let first = Task(executorPreference: stage.loop.executor) { await read() }
            let other = Task(executorPreference: stage.loop.executor) { first.cancel() }
            stage.edge(.readable)
            #expect(stage.log.all == ["error \(ECANCELED)"])
            let second = stage.task(read)
            #expect(stage.log.all == ["error \(ECANCELED)", "read 200"])
            for task in [first, other, second] { await task.value }
        }

        @Test("A task's content stays complete and in order among sends of callbacks")
        func mixedSenders() async {
            let stage = Stage(room: 2)
            let task = stage.task { [stage] in
                stage.log.note(Stage.line("task", await stage.flow.send(Data("aaaa".utf8))))
            }
            stage.send("callback", "bbbb")
            stage.addRoom(3)
            stage.addRoom(3)
            #expect(stage.kernel.written == Array("aaaabbbb".utf8))
            #expect(Set(stage.log.all) == ["task sent", "callback sent"])
            await task.value
        }

        @Test("A cancelled send withdraws unsent content, and a started message is completed")
        func cancelSend() async {
            let stage = Stage(room: 2)
            let tasks = ["aaaa", "bbbb", "cccc"].map { text in
                stage.task { [stage] in stage.log.note(Stage.line(text, await stage.flow.send(Data(text.utf8)))) }
            }
            #expect(stage.kernel.written == Array("aa".utf8))
            for task in tasks[..<2] { task.cancel() }
            stage.settle()
            #expect(stage.log.all == ["aaaa error \(ECANCELED)", "bbbb error \(ECANCELED)"])
            stage.addRoom(100)
            #expect(stage.kernel.written == Array("aaaacccc".utf8))
            #expect(stage.log.all.last == "cccc sent")
            for task in tasks { await task.value }
        }

        @Test(
            "Content that is cancelled during a write of other content is withdrawn, and content of the write is not",
            arguments: [(firstCount: Flow.gatherByteLimit, isWithdrawn: true), (firstCount: 4, isWithdrawn: false)])
        func cancelDuringWrite(firstCount: Int, isWithdrawn: Bool) async {
            let stage = Stage(room: 0)
            let contents = [Data(repeating: 97, count: firstCount), Data("bbbb".utf8), Data("cccc".utf8)]
            let tasks = contents.enumerated().map { number, content in
                stage.task { [stage] in stage.log.note(Stage.line("\(number)", await stage.flow.send(content))) }
            }
            stage.kernel.duringWrites { _ in tasks[1].cancel() }
            stage.addRoom(2)
            stage.kernel.duringWrites(nil)
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            stage.addRoom(2 << 20)
            #expect(stage.log.all == ["1 error \(ECANCELED)", "0 sent", "2 sent"])
            let rest = String(decoding: stage.kernel.written.dropFirst(firstCount), as: UTF8.self)
            #expect(rest == (isWithdrawn ? "cccc" : "bbbbcccc"))
            for task in tasks { await task.value }
        }

        @Test("A cancelled task still sends what fits, and does not wait for the rest")
        func sendWhenCancelled() async {
            let stage = Stage(room: 3)
            let task = Task(executorPreference: stage.loop.executor) { [stage] in
                for text in ["bye", "more"] {
                    stage.log.note(Stage.line(text, await stage.flow.send(Data(text.utf8))))
                }
            }
            task.cancel()
            stage.settle()
            #expect(stage.log.all == ["bye sent", "more error \(ECANCELED)"])
            await task.value
        }

        @Test("Cancelling the home task cancels its send")
        func cancelHomeSend() async {
            let stage = Stage(room: 0)
            let home = stage.task { [stage] in
                stage.flow.makeHome()
                stage.log.note(Stage.line("1", await stage.flow.send(Data("abc".utf8))))
                stage.flow.leaveHome()
            }
            stage.flow.cancelHome()
            stage.settle()
            #expect(stage.log.all == ["1 error \(ECANCELED)"])
            await home.value
        }

        @Test("Cancelling the flow resumes every task")
        func cancelFlow() async {
            let stage = Stage(room: 0)
            let receiver = Self.receive(stage, "receive", 1, 9)
            let sender = stage.task { [stage] in
                stage.log.note(Stage.line("send", await stage.flow.send(Data("abc".utf8))))
            }
            stage.close(abortively: true)
            await receiver.value
            await sender.value
            #expect(Set(stage.log.all) == ["receive error \(ECANCELED)", "send error \(ECANCELED)", "closed"])
        }
    }
}
