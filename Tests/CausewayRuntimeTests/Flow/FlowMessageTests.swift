import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

/// Tests content contexts: priority, antecedents, and messages in parts.
extension Runtime {
    @Suite("Flow: messages")
    struct FlowMessageTests {
        static func send(
            _ stage: Stage, _ text: String, ticket: MessageTicket? = nil, ends: Bool = true, priority: Double = 0.5,
            deadline: Duration? = nil, antecedent: MessageTicket? = nil, endsStream: Bool = false
        ) {
            let outbound = Outbound(
                Data(text.utf8), endsStream: endsStream,
                waiter: .callback { [log = stage.log] in log.note(Stage.line(text, $0)) })
            stage.flow.send(
                .init(
                    outbound, ticket: ticket, endsMessage: ends, priority: priority, deadline: deadline,
                    antecedent: antecedent))
            stage.settle()
        }

        static func text(_ stage: Stage) -> String { String(decoding: stage.kernel.written, as: UTF8.self) }

        @Test("A message in parts delays others until it is complete")
        func parts() {
            let stage = Stage()
            let ticket = MessageTicket()
            Self.send(stage, "a", ticket: ticket, ends: false)
            Self.send(stage, "X")
            Self.send(stage, "b", ticket: ticket, ends: false)
            #expect(Self.text(stage) == "ab" && ticket.progress == .unfinished)
            Self.send(stage, "c", ticket: ticket)
            #expect(Self.text(stage) == "abcX" && ticket.progress == .sent)
            #expect(stage.log.all == ["a sent", "b sent", "c sent", "X sent"])
        }

        @Test("A message waits for its antecedent")
        func antecedent() {
            let stage = Stage()
            let first = MessageTicket()
            Self.send(stage, "2", antecedent: first)
            Self.send(stage, "x")
            #expect(Self.text(stage) == "x")
            Self.send(stage, "1", ticket: first)
            #expect(Self.text(stage) == "x12" && stage.log.all == ["x sent", "1 sent", "2 sent"])
        }

        @Test("A higher priority overtakes messages that have not started")
        func priority() {
            let stage = Stage(room: 0)
            Self.send(stage, "begun")
            for number in 0..<40 { Self.send(stage, "l\(number)", priority: 0.1) }
            Self.send(stage, "urgent", priority: 1)
            stage.addRoom(10_000)
            let text = Self.text(stage)
            guard let urgent = text.firstRange(of: "urgent"), let last = text.firstRange(of: "l39") else {
                Issue.record("something is missing: \(text)")
                return
            }
            #expect(text.hasPrefix("begun") && urgent.lowerBound < last.lowerBound)
            #expect(stage.log.count == 42)
        }

        @Test("An expired message fails, and its ticket is marked")
        func expiry() {
            let stage = Stage()
            let ticket = MessageTicket()
            Self.send(stage, "late", ticket: ticket, deadline: .zero)
            Self.send(stage, "follower", antecedent: ticket)
            Self.send(stage, "other")
            #expect(stage.log.all == ["late error \(ETIMEDOUT)", "follower error \(ECANCELED)", "other sent"])
            #expect(ticket.progress == .failed && Self.text(stage) == "other")
        }

        @Test("The end of the stream waits for all content before it")
        func finalMessage() {
            let stage = Stage(room: 1)
            Self.send(stage, "abc")
            Self.send(stage, "d", ticket: MessageTicket(), endsStream: true)
            stage.addRoom(9)
            #expect(Self.text(stage) == "abcd" && stage.kernel.shutdownPositions == [4])
            #expect(stage.log.all == ["abc sent", "d sent"])
        }

        @Test("Cancelling fails every ticket and completes queued messages, in order")
        func cancel() {
            let stage = Stage(room: 0)
            let tickets = [MessageTicket(), MessageTicket()]
            Self.send(stage, "1", ticket: tickets[0])
            Self.send(stage, "2", ticket: tickets[1], antecedent: tickets[0])
            stage.close()
            #expect(stage.log.all == ["1 error \(ECANCELED)", "2 error \(ECANCELED)", "closed"])
            #expect(tickets.allSatisfy { $0.progress == .failed })
        }

        @Test("Parts of one datagram are sent together, as one datagram per message")
        func datagramParts() {
            let stage = Stage(kind: .datagram)
            let ticket = MessageTicket()
            Self.send(stage, "ab", ticket: ticket, ends: false)
            Self.send(stage, "cd", ticket: ticket)
            Self.send(stage, "e")
            #expect(stage.kernel.writes.map(\.offered) == [4, 1])
            #expect(stage.log.all == ["ab sent", "cd sent", "e sent"])
        }

        @Test("Empty content is a datagram, missing content is none, and a final message ends nothing")
        func emptyDatagram() {
            let stage = Stage(kind: .datagram)
            stage.send("1", "")
            stage.send("2", nil)
            stage.send("3", "x", endsStream: true)
            stage.send("4", "y")
            #expect(stage.kernel.writes.map(\.offered) == [0, 1, 1] && stage.kernel.shutdownPositions.isEmpty)
            #expect(stage.log.all == ["1 sent", "2 sent", "3 sent", "4 sent"])
        }
    }
}
