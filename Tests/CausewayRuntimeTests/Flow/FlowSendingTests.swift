import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Flow: sending")
    struct FlowSendingTests {
        static func text(_ kernel: ScriptedKernel) -> String { String(decoding: kernel.written, as: UTF8.self) }

        @Test("Content is sent at once and in order, with one completion each")
        func inOrder() {
            let stage = Stage()
            for name in ["a", "b", "c"] { stage.send(name, name + name) }
            #expect(Self.text(stage.kernel) == "aabbcc")
            #expect(stage.log.all == ["a sent", "b sent", "c sent"])
            #expect(stage.flow.transferred == (0, 6))
        }

        @Test(
            "Idempotent content at the head of the queue can be sent before the transport is ready, and is not repeated"
        )
        func early() {
            let stage = Stage(begins: false)
            for text in ["early ", "too "] { stage.flow.send(Outbound(Data(text.utf8), waiter: .idempotent)) }
            stage.send("late", "late")
            stage.flow.send(Outbound(Data(" behind".utf8), waiter: .idempotent))
            #expect(stage.flow.earlyContent(atMost: 100) == Data("early too ".utf8))
            #expect(stage.flow.earlyContent(atMost: 7) == Data("early t".utf8))
            // The kernel has accepted eight bytes of the early content before the flow begins.
            stage.flow.attach(.scripted(stage.kernel), owner: stage.owner, sentEarly: 8)
            stage.loop.batch { stage.flow.begin() }
            stage.settle()
            #expect(Self.text(stage.kernel) == "o late behind")
            #expect(stage.log.all == ["late sent"] && stage.flow.transferred == (0, 21))
        }

        @Test("Content that nothing waits for is not sent early unless it is idempotent")
        func notEarly() {
            let stage = Stage(begins: false)
            stage.flow.send(Outbound(Data("once".utf8), waiter: .unobserved))
            stage.flow.send(Outbound(Data(" twice".utf8), waiter: .idempotent))
            #expect(stage.flow.earlyContent(atMost: 100) == Data())
            stage.begin()
            stage.settle()
            #expect(Self.text(stage.kernel) == "once twice")
        }

        @Test("A transport that fails before it is confirmed is detached, and the flow takes another")
        func provisional() {
            let stage = Stage(begins: false)
            stage.flow.attach(.scripted(stage.kernel), owner: stage.owner, isProvisional: true)
            stage.loop.batch { stage.flow.begin() }
            stage.send("1", "first")
            stage.kernel.failNextWrite(ECONNRESET)
            stage.send("2", "second")
            #expect(stage.log.all == ["1 sent", "2 error \(ECONNRESET)", "detached"])
            let next = ScriptedKernel(room: .max)
            stage.begin(next)
            stage.send("3", "third")
            #expect(String(decoding: next.written, as: UTF8.self) == "third")
        }

        @Test("Content completes when all of it was accepted")
        func backPressure() {
            let stage = Stage(room: 3)
            stage.send("1", "abcdef")
            stage.send("2", "gh")
            #expect(Self.text(stage.kernel) == "abc" && stage.log.all.isEmpty)
            let writes = stage.kernel.writes.count
            stage.send("3", "i")
            #expect(stage.kernel.writes.count == writes, "retried without an edge")
            stage.addRoom(4)
            #expect(Self.text(stage.kernel) == "abcdefg" && stage.log.all == ["1 sent"])
            stage.addRoom(100)
            #expect(Self.text(stage.kernel) == "abcdefghi" && stage.log.all == ["1 sent", "2 sent", "3 sent"])
        }

        @Test("Content waits for room, and is then sent completely")
        func noRoom() {
            let stage = Stage(room: 0)
            stage.send("1", "abc")
            #expect(stage.kernel.writes.map(\.result) == [.wouldBlock] && stage.log.all.isEmpty)
            stage.addRoom(100)
            #expect(Self.text(stage.kernel) == "abc" && stage.log.all == ["1 sent"])
        }

        @Test("A short write waits for an edge", arguments: [1, 2, 3, 7])
        func shortWrites(_ largest: Int) {
            let stage = Stage()
            stage.kernel.largestWrite = largest
            stage.send("1", "abcdefgh")
            var edges = 0
            while stage.log.count == 0, edges < 20 {
                #expect(Self.text(stage.kernel).count == min(8, largest * (edges + 1)))
                stage.edge(.writable)
                edges += 1
            }
            #expect(Self.text(stage.kernel) == "abcdefgh" && edges == (8 - 1) / largest)
            stage.edge(.writable)
            #expect(stage.log.all == ["1 sent"])
        }

        @Test("Corked content is collected and sent in one call")
        func cork() {
            let stage = Stage()
            stage.flow.cork()
            for number in 0..<10 { stage.send("\(number)", "\(number)") }
            #expect(stage.kernel.writes.isEmpty)
            stage.flow.uncork()
            stage.settle()
            #expect(stage.kernel.writes == [.init(pieceCount: 10, offered: 10, result: .moved(10))])
            #expect(stage.log.all == (0..<10).map { "\($0) sent" })
        }

        @Test("The sending direction ends after its content, once, and nothing follows")
        func halfClose() {
            let stage = Stage(room: 2)
            stage.send("1", "abc")
            stage.send("2", "de", endsStream: true)
            stage.send("3", "f")
            #expect(stage.kernel.shutdownPositions.isEmpty && stage.log.all == ["3 error \(EPIPE)"])
            stage.addRoom(100)
            #expect(stage.kernel.shutdownPositions == [5] && Self.text(stage.kernel) == "abcde")
            #expect(stage.log.take() == ["3 error \(EPIPE)", "1 sent", "2 sent"])
            stage.receive("4", 1, 9)
            stage.arrive("still there")
            #expect(stage.log.all == ["4 'still the'"])
            stage.close()
            #expect(stage.kernel.endings == [.graceful] && stage.kernel.shutdownPositions == [5])
        }

        @Test("The sending direction ends without content")
        func halfCloseAlone() {
            let stage = Stage()
            stage.send("1", nil, endsStream: true)
            #expect(stage.kernel.shutdownPositions == [0] && stage.log.all == ["1 sent"] && stage.kernel.writes.isEmpty)
        }

        @Test("Empty content completes in order and makes no call")
        func empty() {
            let stage = Stage(room: 1)
            stage.send("1", "ab")
            stage.send("2", "")
            stage.send("3", nil)
            #expect(stage.log.all.isEmpty)
            stage.addRoom(9)
            #expect(stage.log.all == ["1 sent", "2 sent", "3 sent"])
            #expect(stage.kernel.writes.count == 2)
        }

        @Test("A failed transport completes all requests and notifies the owner")
        func failure() {
            let stage = Stage(room: 0)
            stage.receive("r", 1, 9)
            stage.send("1", "abc")
            stage.send("2", "def")
            stage.kernel.failNextWrite(EPIPE)
            stage.edge(.writable)
            #expect(stage.log.all == ["1 error \(EPIPE)", "2 error \(EPIPE)", "r error \(EPIPE)", "failed \(EPIPE)"])
            stage.send("3", "g")
            #expect(stage.log.all.last == "3 error \(EPIPE)")
            #expect(stage.kernel.endings == [.graceful] && stage.kernel.callsAfterClose == 0)
        }

        @Test("Cancelling completes unsent content, then ends", arguments: [false, true])
        func cancel(_ abortively: Bool) {
            let stage = Stage(room: 4)
            stage.send("1", "abc")
            stage.send("2", "def")
            stage.send("3", "ghi")
            stage.close(abortively: abortively)
            #expect(stage.log.all == ["1 sent", "2 error \(ECANCELED)", "3 error \(ECANCELED)", "closed"])
            #expect(stage.kernel.endings == [abortively ? .abortive : .graceful])
            stage.send("4", "j")
            stage.edge(.writable)
            #expect(stage.log.all.last == "4 error \(ECANCELED)" && stage.kernel.callsAfterClose == 0)
        }

        @Test("Cancelling during a write closes after the write, and completes once")
        func cancelDuringWrite() {
            let stage = Stage()
            let seen = Log()
            stage.kernel.duringWrites { [unowned stage] _ in
                stage.kernel.duringWrites(nil)
                _ = stage.flow.close(abortively: true, owner: stage.owner)
                seen.note("\(stage.kernel.endings.count)")
            }
            stage.send("1", "abc")
            #expect(seen.all == ["0"])
            #expect(stage.kernel.endings == [.abortive] && stage.kernel.callsAfterClose == 0)
            #expect(stage.log.all == ["1 error \(ECANCELED)", "closed"])
        }

        @Test("The descriptor stays open while it is in use")
        func claims() {
            let stage = Stage()
            stage.flow.withDescriptor { _ in
                _ = stage.flow.close(abortively: false, owner: stage.owner)
                #expect(stage.kernel.endings.isEmpty)
            }
            stage.settle()
            #expect(stage.kernel.endings == [.graceful] && stage.log.all == ["closed"])
            #expect(stage.flow.withDescriptor { $0 } == nil)
        }

        @Test("If the kernel is short of buffers, the write is retried a little later", arguments: [ENOBUFS, ENOMEM])
        func shortOfBuffers(_ code: CInt) {
            let stage = Stage()
            stage.kernel.failNextWrite(code)
            stage.send("1", "abc")
            #expect(stage.log.all.isEmpty && Self.text(stage.kernel) == "")
            stage.loop.advance(by: .milliseconds(2))
            stage.settle()
            #expect(Self.text(stage.kernel) == "abc" && stage.log.all == ["1 sent"])
        }

        @Test(
            "A task that sends directly is resumed after the kernel was short of buffers",
            arguments: [ENOBUFS, ENOMEM])
        func shortOfBuffersForTask(_ code: CInt) {
            let stage = Stage()
            stage.kernel.failNextWrite(code)
            let task = stage.task { [stage] in
                stage.log.note(Stage.line("1", await stage.flow.send(Data("abc".utf8))))
            }
            #expect(stage.log.all.isEmpty)
            stage.loop.advance(by: .milliseconds(2))
            stage.settle()
            #expect(Self.text(stage.kernel) == "abc" && stage.log.all == ["1 sent"])
            // Report that the socket is writable, so that the waiting task ends. Otherwise it would wait forever if the
            // test fails.
            stage.edge(.writable)
            withExtendedLifetime(task) {}
        }

        @Test("Content from before the transport was attached is sent in one call afterwards")
        func beforeBegin() {
            let stage = Stage(begins: false)
            for name in ["1", "2", "3"] { stage.send(name, name) }
            #expect(stage.log.all.isEmpty)
            stage.begin()
            #expect(stage.kernel.writes == [.init(pieceCount: 3, offered: 3, result: .moved(3))])
            #expect(stage.log.all == ["1 sent", "2 sent", "3 sent"])
        }

        @Test("The size of a gathered send is limited, and the rest follows")
        func gatherLimit() {
            let stage = Stage()
            stage.flow.cork()
            for number in 0..<100 { stage.send("\(number)", "\(number % 10)") }
            stage.flow.uncork()
            stage.settle()
            #expect(Self.text(stage.kernel) == String((0..<100).map { Character("\($0 % 10)") }))
            #expect(stage.kernel.writes.allSatisfy { $0.pieceCount <= 32 } && stage.kernel.writes.count <= 5)
            #expect(stage.log.all == (0..<100).map { "\($0) sent" })
        }
    }
}
