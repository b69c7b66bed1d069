import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

extension Runtime {
    /// Receiving a peer's frames in any order, with any fragmentation and any kind of receive.
    @Suite("WebSocket above a flow")
    struct WebSocketChannelTests {
        /// A WebSocket server that uses a flow as its transport. The test skips the opening handshake.
        private final class Rig: Sendable {
            let stage = Stage()
            let channel: StackChannel

            init(repliesToPings: Bool = false) {
                channel = StackChannel(over: stage.flow, isDatagram: false)
                begin(repliesToPings: repliesToPings)
            }

            func begin(repliesToPings: Bool = false) {
                var configuration = WebSocketMachine.Configuration()
                configuration.skipsHandshake = true
                configuration.repliesToPings = repliesToPings
                let layer = StackLayer(WebSocketStage(WebSocketMachine(.server, configuration: configuration)))
                channel.begin([layer], within: .seconds(75)) { [log = stage.log, weak channel = channel] outcome in
                    switch outcome {
                    case .ready: channel?.readyIsTold()
                    case .ended: log.note("ended")
                    case .failed(let failure): log.note("failed \(failure.code)")
                    }
                }
                stage.settle()
            }

            func arrive(_ frames: [UInt8]...) {
                stage.kernel.arrive(frames.flatMap(\.self))
                stage.edge(.readable)
            }

            func end() {
                stage.kernel.end()
                stage.edge([.readable, .peerClosed])
            }

            func receiveMessage(_ name: String) {
                channel.receiveMessage { [log = stage.log] in log.note(Self.line(name, $0)) }
                stage.settle()
            }

            func receive(_ name: String, _ minimum: Int, _ maximum: Int) {
                channel.receive(minimum: minimum, maximum: maximum) { [log = stage.log] in log.note(Self.line(name, $0))
                }
                stage.settle()
            }

            func close() {
                let log = stage.log
                channel.close(abortively: false, left: { log.note("left") }) { log.note("closed") }
                stage.settle()
            }

            private static func line(_ name: String, _ content: ReceivedContent) -> String {
                let kind = content.metadata.compactMap { $0 as? WebSocketMetadata }.first?.opcode
                return Stage.line(name, content) + (kind.map { " \($0)" } ?? "")
            }
        }

        /// Returns a client's frame, with a mask of zeros.
        private static func frame(_ opcode: WebSocketOpcode, _ text: String = "", isLast: Bool = true) -> [UInt8] {
            frame(opcode, Array(text.utf8), isLast: isLast)
        }

        private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8], isLast: Bool = true) -> [UInt8] {
            [opcode.rawValue | (isLast ? 0x80 : 0), 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
        }

        private static let he = frame(.text, "he", isLast: false)
        private static let llo = frame(.continuation, "llo")

        @Test("A control frame between fragments is a separate message", arguments: [WebSocketOpcode.ping, .pong])
        func betweenFragments(_ opcode: WebSocketOpcode) {
            let rig = Rig()
            for name in ["1", "2", "3", "4"] { rig.receiveMessage(name) }
            let control = Self.frame(opcode, "now")
            let empty = Self.frame(.continuation, "", isLast: false)
            for piece in [Self.he, control, empty, control, Self.llo, Self.frame(.text, "next")] {
                for byte in piece { rig.arrive([byte]) }
            }
            #expect(
                rig.stage.log.all == [
                    "1 'now' complete \(opcode)", "2 'now' complete \(opcode)", "3 'hello' complete text",
                    "4 'next' complete text",
                ])
        }

        @Test(
            "The message continues after it, with any kind of receive", arguments: [WebSocketOpcode.ping, .pong],
            [false, true])
        func resumes(_ opcode: WebSocketOpcode, _ waits: Bool) {
            let rig = Rig()
            let frames = [Self.he, Self.frame(opcode, "now"), Self.frame(opcode), Self.llo]
            if !waits { rig.arrive(frames.flatMap(\.self)) }
            rig.receive("1", 4, 4)
            rig.receive("2", 2, 2)
            rig.receiveMessage("3")
            rig.receiveMessage("4")
            if waits { for frame in frames { rig.arrive(frame) } }
            #expect(
                rig.stage.log.all == [
                    "1 'now' complete \(opcode)", "2 'he' text", "3 complete \(opcode)", "4 'llo' complete text",
                ])
        }

        @Test("A control frame that is read in parts stays one message")
        func controlInPieces() {
            let rig = Rig()
            rig.arrive(Self.he, Self.frame(.ping, "ping!"), Self.llo)
            rig.receive("1", 3, 3)
            rig.receive("2", 3, 3)
            rig.receiveMessage("3")
            #expect(rig.stage.log.all == ["1 'pin' ping", "2 'g!' complete ping", "3 'hello' complete text"])
        }

        @Test("A ping that is answered automatically is not delivered, and does not split the message")
        func answeredPing() {
            let rig = Rig(repliesToPings: true)
            rig.receiveMessage("1")
            rig.arrive(Self.frame(.ping, "a"), Self.he, Self.frame(.ping, "b"), Self.frame(.ping, "c"), Self.llo)
            rig.receiveMessage("2")
            #expect(rig.stage.log.all == ["1 'hello' complete text"])
            #expect(rig.stage.kernel.written == [0x8A, 1, 97, 0x8A, 1, 98, 0x8A, 1, 99])
        }

        @Test("A close frame between fragments ends the exchange, and the message is never completed")
        func closeBetweenFragments() {
            let rig = Rig()
            for name in ["1", "2", "3"] { rig.receiveMessage(name) }
            rig.arrive(Self.he, Self.frame(.close), Self.llo)
            #expect(
                rig.stage.log.all == ["1 complete close", "2 complete final", "3 complete final error \(ENODATA)"])
        }

        @Test("A peer that closes between messages is an end; afterwards receives fail", arguments: [true, false])
        func hangUp(isReset: Bool) {
            let rig = Rig()
            rig.receiveMessage("1")
            rig.receiveMessage("2")
            rig.arrive(Self.frame(.text, "last"))
            if isReset {
                rig.channel.fail(Failure(errno: ECONNRESET))
            } else {
                rig.end()
                rig.channel.fail(Failure(errno: ECONNRESET))
            }
            rig.stage.settle()
            rig.receiveMessage("3")
            let told = rig.stage.log.all.filter { $0.first != "f" }
            #expect(told == ["1 'last' complete text", "2 complete final", "3 error \(ECONNRESET)"])
        }

        @Test("Content from before the peer's close can still be read, then the end")
        func unreadAtHangUp() {
            let rig = Rig()
            rig.arrive(Self.frame(.text, "one"), Self.frame(.ping), Self.frame(.text, "two"))
            rig.channel.fail(Failure(errno: ECONNRESET))
            rig.stage.settle()
            for name in ["1", "2", "3", "4", "5"] { rig.receiveMessage(name) }
            #expect(
                rig.stage.log.all == [
                    "1 'one' complete text", "2 complete ping", "3 'two' complete text", "4 complete final",
                    "5 error \(ECONNRESET)",
                ])
        }

        @Test("A peer that closes inside a message is a failure")
        func hangUpInMessage() {
            let rig = Rig()
            rig.receiveMessage("1")
            rig.arrive(Self.he)
            rig.channel.fail(Failure(errno: ECONNRESET))
            rig.stage.settle()
            #expect(rig.stage.log.all == ["1 'he' error \(ECONNRESET)"])
        }

        @Test("The peer's answer to the final message is the end; a close frame with another code is a message")
        func finalMessage() {
            let rows: [(answer: [UInt8], told: [String])] = [
                ([3, 0xE8], ["1 complete final", "ended"]), ([], ["1 complete final", "ended"]),
                ([3, 0xE9] + Array("away".utf8), ["1 'away' complete close", "2 complete final", "ended"]),
            ]
            for (answer, told) in rows {
                let rig = Rig()
                rig.receiveMessage("1")
                if told.count > 2 { rig.receiveMessage("2") }
                rig.channel.send(StackMessage(Data("bye".utf8), isFinal: true, waiter: .unobserved))
                rig.stage.settle()
                #expect(rig.stage.kernel.written == [0x82, 3] + Array("bye".utf8) + [0x88, 2, 3, 0xE8])
                rig.arrive(Self.frame(.close, answer))
                #expect(rig.stage.log.all == told)
            }
        }

        @Test("Closing waits for the peer, also when an earlier attempt has failed")
        func silentPeerOfSecondAttempt() {
            let rig = Rig()
            // This is a client's frame without a mask, which is a protocol violation.
            rig.arrive([0x82, 0])
            #expect(rig.stage.log.take().first?.hasPrefix("failed") == true)
            rig.channel.detach()
            rig.stage.loop.batch { rig.stage.flow.detach(abandoning: Failure(errno: ECONNABORTED)) }
            rig.stage.settle()
            _ = rig.stage.log.take()
            let second = ScriptedKernel()
            rig.stage.begin(second)
            rig.begin()
            rig.close()
            #expect(rig.stage.log.all == ["left"])
            second.arrive(Self.frame(.close))
            rig.stage.edge(.readable)
            #expect(rig.stage.log.all == ["left", "closed"])
        }

        @Test("Closing is reported while the peer is silent, and continues until it answers")
        func silentPeer() {
            let rig = Rig()
            rig.receiveMessage("1")
            rig.close()
            #expect(rig.stage.log.all == ["1 error \(ECANCELED)", "left"])
            #expect(rig.stage.kernel.written == [0x88, 2, 3, 0xE8])
            rig.arrive(Self.frame(.close))
            #expect(rig.stage.log.all == ["1 error \(ECANCELED)", "left", "closed"])
        }
    }
}
