import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Send queue under random orders")
struct SendQueuePropertyTests {
    typealias Queue = SendQueue<Int>

    /// The state of one test run: the queue under test, and the content that should be in the queue.
    struct Run {
        var queue = Queue()
        var random: SplitMix64
        var now: Duration = .zero
        var waiting: [Queue.Entry] = []
        var lastPayload = 0
        var out: [Int] = []
        /// The message whose first part was sent, but not its last part; at most one.
        var open: MessageTicket?
        /// Messages for which further parts will follow.
        var unfinished: [MessageTicket] = []
        /// Failed messages whose last part has not completed yet.
        var dropped: [MessageTicket] = []
        var finished: [MessageTicket] = []

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        mutating func step() {
            switch random.integer(in: 0...9) {
            case 0...3: submit()
            case 4: now += .milliseconds(random.integer(in: 0...30))
            case 5:
                if let ticket = finished.randomElement(using: &random), ticket.progress == .unfinished {
                    // Here, another connection makes progress with the same message.
                    ticket.progress = random.chance(oneIn: 4) ? .failed : .sent
                }
            default: take()
            }
        }

        private mutating func submit() {
            lastPayload += 1
            var entry = Queue.Entry(lastPayload)
            switch random.integer(in: 0...5) {
            case 0, 1: break
            case 2:
                let foreign = MessageTicket()
                finished.append(foreign)
                entry.antecedent = foreign
            case 3 where !unfinished.isEmpty:
                let index = random.integer(in: 0...(unfinished.count - 1))
                entry.ticket = unfinished[index]
                entry.endsMessage = random.chance(oneIn: 2)
                if entry.endsMessage { unfinished.remove(at: index) }
            case 4:
                entry.ticket = MessageTicket()
                entry.priority = Double(random.integer(in: 0...4)) / 4
                entry.antecedent = random.chance(oneIn: 3) ? finished.randomElement(using: &random) : nil
            default:
                entry.ticket = MessageTicket()
                entry.endsMessage = false
                entry.priority = Double(random.integer(in: 0...4)) / 4
                unfinished.append(entry.ticket!)
            }
            if random.chance(oneIn: 4) { entry.deadline = now + .milliseconds(random.integer(in: 1...60)) }
            queue.append(entry)
            waiting.append(entry)
        }

        mutating func take() {
            let step = queue.next(at: now)
            switch step {
            case nil: expectNothingCanLeave()
            case .send(let entry):
                expectSendable(entry)
                note(entry)
                open = entry.endsMessage ? nil : entry.ticket
                if entry.endsMessage { entry.ticket?.progress = .sent }
            case .expired(let entry):
                #expect(open == nil && isOldest(entry) && (isDropped(entry) || isLate(entry)))
                fail(entry)
            case .antecedentFailed(let entry):
                #expect(open == nil && isOldest(entry) && (isDropped(entry) || entry.antecedent?.progress == .failed))
                fail(entry)
            }
        }

        private mutating func fail(_ entry: Queue.Entry) {
            note(entry)
            entry.ticket?.progress = .failed
            dropped.removeAll { $0 === entry.ticket }
            if let ticket = entry.ticket, !entry.endsMessage { dropped.append(ticket) }
        }

        private mutating func note(_ entry: Queue.Entry) {
            out.append(entry.payload)
            let index = waiting.firstIndex { $0.payload == entry.payload }
            #expect(index != nil, "returned twice, or never added")
            if let index { waiting.remove(at: index) }
        }

        private func isLate(_ entry: Queue.Entry) -> Bool { entry.deadline.map { $0 <= now } ?? false }

        private func isDropped(_ entry: Queue.Entry) -> Bool { dropped.contains { $0 === entry.ticket } }

        private func isOldest(_ entry: Queue.Entry) -> Bool {
            entry.ticket == nil || waiting.first { $0.ticket === entry.ticket }?.payload == entry.payload
        }

        private func mayBegin(_ entry: Queue.Entry) -> Bool {
            isOldest(entry) && !isDropped(entry) && !isLate(entry)
                && (entry.antecedent == nil || entry.antecedent?.progress == .sent)
        }

        private func expectSendable(_ entry: Queue.Entry) {
            if let open {
                #expect(entry.ticket === open && isOldest(entry))
                return
            }
            #expect(mayBegin(entry))
            for other in waiting where mayBegin(other) {
                let isBetter =
                    other.priority > entry.priority
                    || (other.priority == entry.priority && other.payload < entry.payload)
                #expect(!isBetter, "\(other.payload) should have been sent before \(entry.payload)")
            }
        }

        private func expectNothingCanLeave() {
            if let open {
                #expect(!waiting.contains { $0.ticket === open })
                return
            }
            for entry in waiting where isOldest(entry) {
                #expect(
                    !mayBegin(entry) && !isLate(entry) && !isDropped(entry) && entry.antecedent?.progress != .failed)
            }
        }
    }

    @Test("Every entry is returned once, in its order, or withdrawn", arguments: 0..<20 as Range<UInt64>)
    func everyEntryOnce(_ block: UInt64) {
        for seed in (block * 50)..<(block * 50 + 50) {
            var run = Run(seed: seed)
            for _ in 0..<200 { run.step() }
            #expect(run.queue.count == run.waiting.count)
            let rest = run.queue.removeAll().map(\.payload)
            #expect(rest == run.waiting.map(\.payload))
            #expect((run.out + rest).sorted() == Array(1...run.lastPayload), "seed \(seed)")
        }
    }
}
