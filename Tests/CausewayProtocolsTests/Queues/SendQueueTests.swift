import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Send queue")
struct SendQueueTests {
    typealias Queue = SendQueue<String>

    /// Returns the names of all entries that the queue returns now. Names of expired or failed entries have a mark.
    static func drain(_ queue: inout Queue, at now: Duration = .zero) -> [String] {
        var names: [String] = []
        while let step = queue.next(at: now) {
            switch step {
            case .send(let entry):
                names.append(entry.payload)
                if entry.endsMessage { entry.ticket?.progress = .sent }
            case .expired(let entry):
                names.append("expired \(entry.payload)")
                entry.ticket?.progress = .failed
            case .antecedentFailed(let entry):
                names.append("orphaned \(entry.payload)")
                entry.ticket?.progress = .failed
            }
        }
        return names
    }

    static func expectNothingLost(_ queue: inout Queue, at now: Duration) {
        if let step = queue.nextLost(at: now) { Issue.record("\(step)") }
    }

    @Test("Messages without options are sent in the given order")
    func plain() {
        var queue = Queue()
        #expect(queue.letsPlainPass && queue.isEmpty)
        for name in ["a", "b", "c"] { queue.append(.init(name)) }
        #expect(queue.count == 3 && !queue.letsPlainPass)
        #expect(Self.drain(&queue) == ["a", "b", "c"])
        #expect(queue.letsPlainPass)
    }

    @Test("A higher priority is sent first, equal priorities in the given order")
    func priority() {
        var queue = Queue()
        for (name, priority) in [("low", 0.1), ("plain", 0.5), ("high 1", 0.9), ("high 2", 0.9), ("plain 2", 0.5)] {
            queue.append(.init(name, priority: priority))
        }
        #expect(Self.drain(&queue) == ["high 1", "high 2", "plain", "plain 2", "low"])
    }

    @Test("The parts of one message are not interrupted")
    func openMessage() {
        var queue = Queue()
        let ticket = MessageTicket()
        queue.append(.init("a1", ticket: ticket, endsMessage: false))
        queue.append(.init("b", priority: 1))
        queue.append(.init("c"))
        // Sending of the other message has not started. So the urgent content is sent first.
        #expect(Self.drain(&queue) == ["b", "a1"])
        #expect(!queue.letsPlainPass)
        queue.append(.init("urgent", priority: 1))
        #expect(Self.drain(&queue) == [])
        queue.append(.init("a2", ticket: ticket, endsMessage: false))
        #expect(Self.drain(&queue) == ["a2"])
        queue.append(.init("a3", ticket: ticket))
        #expect(Self.drain(&queue) == ["a3", "urgent", "c"])
        #expect(queue.letsPlainPass && queue.isEmpty)
    }

    @Test("The parts of one message keep their order with any priorities")
    func orderWithinTicket() {
        var queue = Queue()
        let ticket = MessageTicket()
        queue.append(.init("1", ticket: ticket, endsMessage: false, priority: 0.1))
        queue.append(.init("2", ticket: ticket, endsMessage: false, priority: 0.9))
        queue.append(.init("3", ticket: ticket, priority: 1))
        #expect(Self.drain(&queue) == ["1", "2", "3"])
    }

    @Test("A message follows its antecedent, and does not delay others meanwhile")
    func antecedent() {
        var queue = Queue()
        let (first, second) = (MessageTicket(), MessageTicket())
        queue.append(.init("third", antecedent: second))
        queue.append(.init("second", ticket: second, antecedent: first))
        queue.append(.init("other"))
        #expect(Self.drain(&queue) == ["other"])
        first.progress = .sent
        #expect(Self.drain(&queue) == ["second", "third"])
    }

    @Test("A message whose antecedent failed fails too, with its own followers")
    func failedAntecedent() {
        var queue = Queue()
        let (first, second) = (MessageTicket(), MessageTicket())
        queue.append(.init("third", antecedent: second))
        queue.append(.init("second", ticket: second, antecedent: first))
        first.progress = .failed
        #expect(Self.drain(&queue) == ["orphaned second", "orphaned third"])
        #expect(queue.isEmpty)
    }

    @Test("An expired message does not start", arguments: [(4, ["a", "b"]), (5, ["expired b", "a"])])
    func expiry(_ seconds: Int, _ names: [String]) {
        var queue = Queue()
        queue.append(.init("a"))
        queue.append(.init("b", deadline: .seconds(5)))
        #expect(Self.drain(&queue, at: .seconds(seconds)) == names)
    }

    @Test("A started message is completed, however late")
    func noExpiryOnceBegun() {
        var queue = Queue()
        let ticket = MessageTicket()
        queue.append(.init("1", ticket: ticket, endsMessage: false, deadline: .seconds(5)))
        queue.append(.init("2", ticket: ticket, deadline: .seconds(5)))
        guard case .send(let entry) = queue.next(at: .seconds(1)) else {
            Issue.record("nothing left")
            return
        }
        #expect(entry.payload == "1")
        #expect(Self.drain(&queue, at: .seconds(9)) == ["2"])
    }

    @Test("A message that failed at its start has no further parts")
    func noTruncatedMessages() {
        var queue = Queue()
        let (late, orphan, failed) = (MessageTicket(), MessageTicket(), MessageTicket())
        failed.progress = .failed
        queue.append(.init("late 1", ticket: late, endsMessage: false, deadline: .seconds(5)))
        queue.append(.init("late 2", ticket: late, endsMessage: false, deadline: .seconds(7)))
        queue.append(.init("orphan 1", ticket: orphan, endsMessage: false, antecedent: failed))
        #expect(Self.drain(&queue, at: .seconds(6)) == ["expired late 1", "expired late 2", "orphaned orphan 1"])
        queue.append(.init("late 3", ticket: late, deadline: .seconds(20)))
        queue.append(.init("orphan 2", ticket: orphan))
        queue.append(.init("other"))
        #expect(Set(Self.drain(&queue, at: .seconds(6))) == ["expired late 3", "orphaned orphan 2", "other"])
        // A ticket whose message has expired can be used for another message.
        queue.append(.init("again", ticket: late, deadline: .seconds(20)))
        #expect(Self.drain(&queue, at: .seconds(6)) == ["again"])
        #expect(queue.letsPlainPass)
    }

    @Test("Withdraws all entries that have not started, and is then like a new queue")
    func removeAll() {
        var queue = Queue()
        let ticket = MessageTicket()
        queue.append(.init("1", ticket: ticket, endsMessage: false))
        queue.append(.init("2", priority: 0.1))
        _ = queue.next(at: .zero)
        #expect(queue.removeAll().map(\.payload) == ["2"])
        #expect(queue.isEmpty && queue.letsPlainPass)
        queue.append(.init("3"))
        #expect(Self.drain(&queue) == ["3"])
    }

    @Test("Messages without options need no clock")
    func readsNoClock() {
        var queue = Queue()
        queue.append(.init("a"))
        var reads = 0
        func now() -> Duration {
            reads += 1
            return .zero
        }
        _ = queue.next(at: now())
        #expect(reads == 0)
        queue.append(.init("b", deadline: .seconds(1)))
        _ = queue.next(at: now())
        #expect(reads == 1)
    }

    @Test("Expired entries can be queried while nothing can be sent, without starting a message")
    func lostWithoutSending() {
        var queue = Queue()
        let ticket = MessageTicket()
        queue.append(.init("plain"))
        queue.append(.init("late", ticket: ticket, deadline: .seconds(2)))
        queue.append(.init("later", deadline: .seconds(3)))
        queue.append(.init("orphan", antecedent: ticket))
        #expect(queue.deadline == .seconds(2))
        Self.expectNothingLost(&queue, at: .seconds(1))
        guard case .expired(let late) = queue.nextLost(at: .seconds(2)) else { return #expect(Bool(false)) }
        #expect(late.payload == "late" && queue.deadline == .seconds(3))
        ticket.progress = .failed
        guard case .antecedentFailed(let orphan) = queue.nextLost(at: .seconds(2)) else { return #expect(Bool(false)) }
        #expect(orphan.payload == "orphan")
        Self.expectNothingLost(&queue, at: .seconds(2))
        #expect(Self.drain(&queue, at: .seconds(2)) == ["plain", "later"])
        #expect(queue.deadline == nil)
    }

    @Test("A started message does not expire, and of one that has not started only the oldest part counts")
    func deadlineOfParts() {
        var queue = Queue()
        let (begun, waiting) = (MessageTicket(), MessageTicket())
        queue.append(.init("a1", ticket: begun, endsMessage: false, deadline: .seconds(1)))
        #expect(Self.drain(&queue) == ["a1"])
        queue.append(.init("a2", ticket: begun, endsMessage: false, deadline: .seconds(1)))
        queue.append(.init("b1", ticket: waiting, endsMessage: false, deadline: .seconds(5)))
        queue.append(.init("b2", ticket: waiting, deadline: .seconds(2)))
        #expect(queue.deadline == .seconds(5))
        Self.expectNothingLost(&queue, at: .seconds(4))
        guard case .expired(let first) = queue.nextLost(at: .seconds(5)) else { return #expect(Bool(false)) }
        guard case .expired(let rest) = queue.nextLost(at: .seconds(5)) else { return #expect(Bool(false)) }
        #expect(first.payload == "b1" && rest.payload == "b2")
        Self.expectNothingLost(&queue, at: .seconds(9))
    }
}
