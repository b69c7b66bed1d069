import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

/// Tests of messages that expire. The tests use a virtual clock.
extension Runtime {
    @Suite("Flow: expiry")
    struct FlowExpiryTests {
        @Test("A blocked message completes when it expires, with the messages that depend on it")
        func blocked() {
            let stage = Stage(room: 0)
            let ticket = MessageTicket()
            FlowMessageTests.send(stage, "begun")
            FlowMessageTests.send(stage, "late", ticket: ticket, deadline: System.now + .seconds(3_600))
            FlowMessageTests.send(stage, "orphan", antecedent: ticket)
            stage.loop.advance(by: .seconds(3_500))
            stage.settle()
            #expect(stage.log.all.isEmpty)
            stage.loop.advance(by: .seconds(200))
            stage.settle()
            #expect(stage.log.all == ["late error \(ETIMEDOUT)", "orphan error \(ECANCELED)"])
            #expect(ticket.progress == .failed)
            stage.addRoom(100)
            #expect(FlowMessageTests.text(stage) == "begun" && stage.log.count == 3)
        }

        @Test("A message expires before there is a transport")
        func beforeTransport() {
            let stage = Stage(begins: false)
            FlowMessageTests.send(stage, "late", ticket: MessageTicket(), deadline: System.now + .seconds(3_600))
            FlowMessageTests.send(stage, "kept")
            stage.loop.advance(by: .seconds(3_700))
            stage.settle()
            #expect(stage.log.all == ["late error \(ETIMEDOUT)"])
            stage.begin()
            #expect(FlowMessageTests.text(stage) == "kept")
        }

        @Test("Each of several messages expires at its own time, also if the earlier one is sent later")
        func several() {
            let stage = Stage(room: 0)
            let now = System.now
            FlowMessageTests.send(stage, "begun")
            FlowMessageTests.send(stage, "second", ticket: MessageTicket(), deadline: now + .seconds(7_200))
            FlowMessageTests.send(stage, "first", ticket: MessageTicket(), deadline: now + .seconds(3_600))
            stage.loop.advance(by: .seconds(3_700))
            stage.settle()
            #expect(stage.log.all == ["first error \(ETIMEDOUT)"])
            stage.loop.advance(by: .seconds(3_700))
            stage.settle()
            #expect(stage.log.all == ["first error \(ETIMEDOUT)", "second error \(ETIMEDOUT)"])
        }

        @Test("A timer after the message was sent, or after the end, has no effect")
        func late() {
            let stage = Stage()
            FlowMessageTests.send(stage, "sent", ticket: MessageTicket(), deadline: System.now + .seconds(3_600))
            #expect(stage.log.all == ["sent sent"])
            stage.close()
            stage.loop.advance(by: .seconds(7_200))
            stage.settle()
            #expect(stage.log.all == ["sent sent", "closed"])
        }

        static let passing: [CInt] = [ECONNREFUSED, EPERM, ENETUNREACH, EHOSTUNREACH]

        @Test("A refusal fails one datagram, and the others are still sent as a train", arguments: passing)
        func refusedTrain(code: CInt) {
            let stage = Stage(kind: .datagram)
            stage.flow.cork()
            for name in ["a", "b", "c", "d"] { stage.send(name, "xy") }
            stage.kernel.failNextWrite(code)
            stage.loop.batch { stage.flow.uncork() }
            stage.settle()
            #expect(stage.kernel.writes.map(\.pieceCount) == [4, 3])
            #expect(stage.log.all == ["a error \(code)", "b sent", "c sent", "d sent"])
        }

        @Test("Without support for trains no datagram is lost", arguments: [EINVAL, EIO, EMSGSIZE, EOPNOTSUPP])
        func noOffload(code: CInt) {
            let stage = Stage(kind: .datagram)
            stage.flow.cork()
            for name in ["a", "b", "c"] { stage.send(name, "xy") }
            stage.kernel.failNextWrite(code)
            stage.loop.batch { stage.flow.uncork() }
            stage.settle()
            #expect(stage.kernel.writes.map(\.pieceCount) == [3, 1, 1, 1])
            #expect(stage.log.all == ["a sent", "b sent", "c sent"])
        }
    }
}
