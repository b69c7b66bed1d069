import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Protocols above a flow")
    struct StackChannelTests {
        /// A channel on top of a test stage. The stage's log records all results.
        private final class Rig: Sendable {
            let stage: Stage
            let channel: StackChannel

            init(room: Int = .max, greets: Bool = true) {
                stage = Stage(room: room)
                channel = StackChannel(over: stage.flow, isDatagram: false)
                begin()
                if greets { stage.arrive("H") }
            }

            func begin() {
                channel.begin([StackLayer(LineStage())], within: .seconds(75)) {
                    [log = stage.log, weak channel = channel] outcome in
                    switch outcome {
                    case .ready:
                        log.note("ready")
                        channel?.readyIsTold()
                    case .ended: log.note("ended")
                    case .failed(let failure): log.note("failed \(failure.code)")
                    }
                }
                stage.settle()
            }

            var written: String { String(decoding: stage.kernel.written, as: UTF8.self) }

            func receive(_ name: String, _ minimum: Int, _ maximum: Int) {
                channel.receive(minimum: minimum, maximum: maximum) { [log = stage.log] in log.note(Self.line(name, $0))
                }
                stage.settle()
            }

            func receiveMessage(_ name: String) {
                channel.receiveMessage { [log = stage.log] in log.note(Self.line(name, $0)) }
                stage.settle()
            }

            func send(_ text: String, endsMessage: Bool = true, isFinal: Bool = false) {
                channel.send(
                    StackMessage(
                        Data(text.utf8), endsMessage: endsMessage, isFinal: isFinal,
                        waiter: .callback { [log = stage.log] in log.note(Stage.line("send \(text)", $0)) }))
                stage.settle()
            }

            /// Queues a message to send. The channel does not process it yet.
            func queue(_ text: String) {
                channel.send(
                    StackMessage(
                        Data(text.utf8),
                        waiter: .callback { [log = stage.log] in
                            log.note(Stage.line("send \(text.hasPrefix("xx") ? "x" : text)", $0))
                        }))
            }

            /// Runs `body` before the channel's next turn. The queue on which turns run is suspended until `body`
            /// returns.
            func beforeTurn(_ body: () -> Void) {
                stage.queue.suspend()
                body()
                stage.queue.resume()
                stage.settle()
            }

            /// Queues a receive call. The channel does none of its work yet.
            func receiveLater(_ name: String) {
                channel.receive(minimum: 1, maximum: 9) { [log = stage.log] in log.note(Self.line(name, $0)) }
            }

            func close(abortively: Bool = false) {
                channel.close(abortively: abortively) { [log = stage.log] in log.note("closed") }
                stage.settle()
            }

            static func line(_ name: String, _ content: ReceivedContent) -> String {
                let mark = content.metadata.compactMap { $0 as? LineStage.Mark }.first
                return Stage.line(name, content) + (mark.map { " of \($0.length)" } ?? "")
            }
        }

        @Test("Nothing is sent or delivered before the handshake, and all pending requests after it")
        func handshake() {
            let rig = Rig(greets: false)
            rig.send("hello")
            rig.receiveMessage("1")
            #expect(rig.written == "H" && rig.stage.log.all.isEmpty)
            rig.stage.arrive("Hworld\n")
            #expect(rig.written == "Hhello\n")
            #expect(Set(rig.stage.log.all) == ["ready", "send hello sent", "1 'world' complete of 5"])
        }

        @Test("Messages keep their boundaries with any fragmentation and any receives")
        func bounds() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.receive("1", 1, 3)
            rig.receive("2", 9, 9)
            rig.receiveMessage("3")
            rig.receiveMessage("4")
            for character in "abcde\n\nxyz\n" { rig.stage.arrive(String(character)) }
            #expect(
                rig.stage.log.all == [
                    "1 'abc' of 5", "2 'de' complete of 2", "3 complete of 0", "4 'xyz' complete of 3",
                ])
        }

        @Test("The peer's end is delivered once, after all content")
        func end() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.stage.arrive("abc\n")
            rig.stage.kernel.end()
            rig.stage.edge([.readable, .peerClosed])
            for name in ["1", "2", "3"] { rig.receiveMessage(name) }
            #expect(
                rig.stage.log.all == [
                    "1 'abc' complete of 3", "2 complete final", "3 complete final error \(ENODATA)",
                ])
        }

        @Test("Messages from before a transport failure are delivered, however late, then the failure")
        func loss() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.stage.arrive("one\ntwo\nthr")
            rig.stage.kernel.failReads(ECONNRESET)
            rig.stage.edge([.readable, .failed, .hangUp])
            rig.channel.lose(Failure(errno: ECONNRESET)) { [log = rig.stage.log] in log.note("lost \($0.code)") }
            rig.stage.settle()
            rig.send("late")
            rig.receiveMessage("1")
            rig.receiveMessage("2")
            #expect(
                rig.stage.log.all.filter { !$0.hasPrefix("failed") } == [
                    "send late error \(ECONNRESET)", "1 'one' complete of 3", "2 'two' complete of 3",
                    "lost \(ECONNRESET)",
                ])
            rig.receiveMessage("3")
            #expect(rig.stage.log.all.last == "3 error \(ECONNRESET)")
        }

        @Test("Cancelling the home task ends only its receive, and loses no byte")
        func cancelHome() async {
            let rig = Rig()
            _ = rig.stage.log.take()
            let home = rig.stage.task { [rig] in
                rig.stage.flow.makeHome()
                for call in ["1", "2"] {
                    rig.stage.log.note(Rig.line(call, await rig.channel.receive(minimum: 3, maximum: 3)))
                }
                rig.stage.flow.leaveHome()
            }
            rig.stage.arrive("ab")
            rig.channel.cancelHome()
            rig.stage.settle()
            #expect(rig.stage.log.take() == ["1 error \(ECANCELED)"])
            rig.stage.arrive("cd\n")
            #expect(rig.stage.log.all == ["2 'abc' of 4"])
            await home.value
        }

        @Test("Cancelling the home task cancels and withdraws its send")
        func cancelHomeSend() async {
            let rig = Rig(greets: false)
            let home = rig.stage.task { [rig] in
                rig.stage.flow.makeHome()
                rig.stage.log.note(Stage.line("1", await rig.channel.send(Data("abc".utf8))))
                rig.stage.flow.leaveHome()
            }
            rig.channel.cancelHome()
            rig.stage.settle()
            #expect(rig.stage.log.all == ["1 error \(ECANCELED)"])
            await home.value
            rig.stage.arrive("H")
            #expect(rig.written == "H")
        }

        @Test("A truncated message never looks complete")
        func cutOff() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.stage.arrive("abc\nde")
            rig.stage.kernel.end()
            rig.stage.edge([.readable, .peerClosed])
            for name in ["1", "2", "3"] { rig.receiveMessage(name) }
            #expect(rig.stage.log.all == ["1 'abc' complete of 3", "2 'de'", "3 complete final"])
        }

        @Test("A program that does not read blocks the peer")
        func readsNoFurther() {
            let rig = Rig()
            rig.stage.arrive(String(repeating: "line\n", count: 10_000))
            #expect(rig.stage.kernel.unread > 30_000)
            for name in 1...10_000 { rig.receiveMessage("\(name)") }
            #expect(rig.stage.log.count == 10_001)
            #expect(rig.stage.log.all.last == "10000 'line' complete of 4")
        }

        @Test("A send completes when the transport has accepted all of it")
        func sendsWait() {
            let rig = Rig(room: 4)
            _ = rig.stage.log.take()
            rig.send("abcdef")
            rig.send("g", endsMessage: false)
            rig.send("h")
            #expect(rig.written == "Habc" && rig.stage.log.all.isEmpty)
            rig.stage.addRoom(100)
            #expect(rig.written == "Habcdef\ngh\n")
            #expect(rig.stage.log.all == ["send abcdef sent", "send g sent", "send h sent"])
        }

        @Test("Content that the transport did not accept never counts as sent")
        func failedWrite() {
            let rig = Rig(room: 1)
            _ = rig.stage.log.take()
            rig.send("abc")
            rig.stage.kernel.failNextWrite(ECONNRESET)
            rig.stage.addRoom(9)
            #expect(rig.stage.log.take() == ["failed \(ECONNRESET)"])
            rig.channel.fail(Failure(errno: ECONNRESET))
            rig.stage.settle()
            #expect(rig.stage.log.all == ["send abc error \(ECONNRESET)"])
        }

        @Test("The final message ends the sending direction, and nothing may follow")
        func halfClose() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.send("last", isFinal: true)
            rig.send("late")
            #expect(rig.written == "Hlast\n" && rig.stage.kernel.shutdownPositions == [6])
            #expect(rig.stage.log.all == ["send last sent", "send late error \(EPIPE)"])
        }

        @Test("Closing completes pending requests, sends the closing message, then ends")
        func close() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.receiveMessage("1")
            rig.close()
            #expect(rig.stage.log.all == ["1 error \(ECANCELED)", "closed"])
            #expect(rig.written == "HB\n")
            rig.receiveMessage("2")
            rig.send("late")
            rig.close()
            #expect(rig.stage.log.all.suffix(3) == ["2 error \(ECANCELED)", "send late error \(ECANCELED)", "closed"])
        }

        @Test(
            "Closing first sends what was queued before, also in small steps of the transport",
            arguments: [9, .max])
        func closeAfterSends(room: Int) {
            let rig = Rig(room: room)
            _ = rig.stage.log.take()
            // The channel closes before it has begun to send any of this content.
            rig.beforeTurn {
                for text in ["one", String(repeating: "x", count: 100), "two"] { rig.queue(text) }
                rig.receiveLater("1")
                rig.channel.close(abortively: false) { [log = rig.stage.log] in log.note("closed") }
                rig.queue("late")
            }
            for _ in 0..<40 where room < .max { rig.stage.addRoom(4) }
            #expect(rig.written == "Hone\n" + String(repeating: "x", count: 100) + "\ntwo\nB\n")
            let events = rig.stage.log.all
            #expect(
                Set(events.dropLast()) == [
                    "1 error \(ECANCELED)", "send late error \(ECANCELED)", "send one sent", "send x sent",
                    "send two sent",
                ])
            #expect(events.last == "closed" && events.count == 6)
        }

        @Test("A peer that reads nothing delays closing by at most two seconds, and nothing counts as sent")
        func closeWithoutRoom() {
            let rig = Rig(room: 1)
            _ = rig.stage.log.take()
            rig.send("abc")
            rig.queue("def")
            rig.close()
            #expect(rig.written == "H" && rig.stage.log.all.isEmpty)
            rig.stage.loop.advance(by: .seconds(2))
            rig.stage.settle()
            #expect(
                rig.stage.log.all == ["send abc error \(ECANCELED)", "send def error \(ECANCELED)", "closed"])
        }

        @Test("A transport that breaks during closing fails the queued rest")
        func closeOverBrokenTransport() {
            let rig = Rig(room: 1)
            _ = rig.stage.log.take()
            rig.send("abc")
            rig.close()
            rig.stage.kernel.failNextWrite(ECONNRESET)
            rig.stage.addRoom(9)
            // The flow reports the failure to its owner. The channel does not report the failure, only its own end.
            #expect(rig.stage.log.all == ["send abc error \(ECANCELED)", "closed", "failed \(ECONNRESET)"])
        }

        @Test("A peer that sends without end does not keep what was queued from leaving")
        func closeWhilePeerSends() {
            let rig = Rig()
            _ = rig.stage.log.take()
            rig.queue("bye")
            rig.channel.close(abortively: false) { [log = rig.stage.log] in log.note("closed") }
            rig.stage.arrive(String(repeating: "line\n", count: 1_000))
            #expect(rig.written == "Hbye\nB\n" && rig.stage.log.all == ["send bye sent", "closed"])
        }

        @Test("Closing abortively sends nothing", arguments: [true, false])
        func abort(isReady: Bool) {
            let rig = Rig(greets: isReady)
            _ = rig.stage.log.take()
            rig.receiveMessage("1")
            rig.beforeTurn {
                rig.queue("abc")
                rig.channel.close(abortively: true) { [log = rig.stage.log] in log.note("closed") }
            }
            #expect(rig.stage.log.all == ["1 error \(ECANCELED)", "send abc error \(ECANCELED)", "closed"])
            #expect(rig.written == "H")
        }

        @Test("A protocol failure is reported once, and its owner's error completes pending requests")
        func broken() {
            let rig = Rig()
            rig.receiveMessage("1")
            rig.stage.arrive("X\n")
            #expect(rig.stage.log.all == ["ready", "failed 71"])
            rig.channel.fail(Failure(errno: 71))
            rig.stage.settle()
            rig.receiveMessage("2")
            rig.close()
            #expect(rig.stage.log.all == ["ready", "failed 71", "1 error 71", "2 error 71", "closed"])
        }

        @Test("Requests outlive a failed attempt")
        func nextAttempt() {
            let rig = Rig(greets: false)
            rig.receiveMessage("1")
            rig.send("hello")
            rig.stage.arrive("X\n")
            rig.channel.detach()
            rig.stage.loop.batch { rig.stage.flow.detach(abandoning: Failure(errno: ECONNABORTED)) }
            rig.stage.settle()
            #expect(rig.stage.log.take() == ["failed 71", "detached"])
            let second = ScriptedKernel()
            rig.stage.begin(second)
            rig.begin()
            second.arrive("Hagain\n".utf8)
            rig.stage.edge(.readable)
            #expect(String(decoding: second.written, as: UTF8.self) == "Hhello\n")
            #expect(Set(rig.stage.log.all) == ["ready", "send hello sent", "1 'again' complete of 5"])
        }
    }
}
