import CausewayProtocols
import Testing

@Suite("Receive queue")
struct ReceiveQueueTests {
    typealias Outcome = ReceiveQueue.Outcome

    enum Event {
        case arrived(Int)
        case message(Int)
        case ended
        case wants(Int, Int)
        case wantsMessage
    }

    struct Row: CustomTestStringConvertible {
        var name: String
        var events: [Event]
        var outcomes: [Outcome]
        var buffered = 0

        var testDescription: String { name }
    }

    static let streams: [Row] = [
        Row(name: "no call, no result", events: [.arrived(10)], outcomes: [], buffered: 10),
        Row(name: "no content, the call waits", events: [.wants(1, 10)], outcomes: []),
        Row(
            name: "the maximum limits the result", events: [.arrived(10), .wants(1, 4)], outcomes: [.part(4)],
            buffered: 6),
        Row(name: "the minimum delays the result", events: [.arrived(3), .wants(4, 8)], outcomes: [], buffered: 3),
        Row(
            name: "exact reads split the content", events: [.arrived(6), .wants(2, 2), .wants(4, 4)],
            outcomes: [.part(2), .part(4)]),
        Row(
            name: "several calls complete in order", events: [.wants(4, 4), .wants(1, 9), .arrived(5)],
            outcomes: [.part(4), .part(1)]),
        Row(
            name: "a later call with a smaller minimum does not overtake",
            events: [.wants(8, 8), .wants(1, 1), .arrived(7)],
            outcomes: [],
            buffered: 7),
        Row(name: "a minimum of zero waits for one byte", events: [.wants(0, 5)], outcomes: []),
        Row(name: "a minimum of zero takes one byte", events: [.wants(0, 5), .arrived(1)], outcomes: [.part(1)]),
        Row(
            name: "never more than the maximum, even if the minimum exceeds it",
            events: [.wants(3, 1), .wants(10, 2), .arrived(1), .arrived(4)], outcomes: [.part(1), .part(2)],
            buffered: 2),
        Row(
            name: "a maximum of zero counts as one", events: [.wants(3, 0), .arrived(5)], outcomes: [.part(1)],
            buffered: 4),
        Row(name: "negative numbers", events: [.wants(-9, -9), .arrived(5)], outcomes: [.part(1)], buffered: 4),
        Row(name: "the largest numbers", events: [.wants(.max, .max), .arrived(5)], outcomes: [], buffered: 5),
        Row(
            name: "the end overrides the minimum", events: [.wants(10, 10), .arrived(4), .ended], outcomes: [.last(4)]),
        Row(name: "the end without content", events: [.wants(1, 9), .ended], outcomes: [.last(0)]),
        Row(
            name: "nothing after the end", events: [.ended, .wants(1, 1), .wants(1, 1), .wantsMessage],
            outcomes: [.last(0), .nothingMore, .nothingMore]),
        Row(
            name: "the end comes with the last bytes", events: [.arrived(4), .ended, .wants(1, 9), .wants(1, 9)],
            outcomes: [.last(4), .nothingMore]),
        Row(
            name: "the end waits for the last bytes", events: [.arrived(4), .ended, .wants(1, 3), .wants(1, 9)],
            outcomes: [.part(3), .last(1)]),
        Row(
            name: "all bytes read before the end", events: [.arrived(4), .wants(4, 4), .ended, .wants(1, 9)],
            outcomes: [.part(4), .last(0)]),
        Row(name: "a stream is one message", events: [.arrived(4), .wantsMessage], outcomes: [], buffered: 4),
        Row(
            name: "the whole stream as a message", events: [.wantsMessage, .arrived(4), .arrived(2), .ended],
            outcomes: [.last(6)]),
        Row(
            name: "bytes after the end are ignored", events: [.ended, .arrived(3), .wants(1, 9)],
            outcomes: [.last(0)]),
    ]

    static let messages: [Row] = [
        Row(name: "one message", events: [.message(5), .wantsMessage], outcomes: [.whole(5)]),
        Row(
            name: "messages are not merged", events: [.message(5), .message(6), .wantsMessage, .wantsMessage],
            outcomes: [.whole(5), .whole(6)]),
        Row(name: "an empty message", events: [.message(0), .wantsMessage], outcomes: [.whole(0)]),
        Row(
            name: "an empty message completes a call with a minimum", events: [.message(0), .wants(5, 9)],
            outcomes: [.whole(0)]),
        Row(
            name: "a message ends below the minimum", events: [.message(3), .message(3), .wants(5, 9)],
            outcomes: [.whole(3)], buffered: 3),
        Row(
            name: "a long message comes in parts, and the last is marked",
            events: [.message(10), .wants(1, 4), .wants(1, 4), .wants(1, 4)],
            outcomes: [.part(4), .part(4), .whole(2)]),
        Row(
            name: "a message that arrives in parts", events: [.wantsMessage, .arrived(3), .message(4)],
            outcomes: [.whole(7)]),
        Row(
            name: "the end follows the last complete message",
            events: [.message(3), .ended, .wantsMessage, .wantsMessage, .wantsMessage],
            outcomes: [.whole(3), .last(0), .nothingMore]),
        Row(
            name: "the end truncates a message",
            events: [.message(3), .arrived(2), .ended, .wantsMessage, .wantsMessage],
            outcomes: [.whole(3), .last(2)]),
    ]

    @Test("Answers", arguments: streams + messages)
    func answers(_ row: Row) {
        var queue = ReceiveQueue()
        var outcomes: [Outcome] = []
        for event in row.events {
            switch event {
            case .arrived(let count): queue.arrived(count)
            case .message(let count): queue.arrived(count, endsMessage: true)
            case .ended: queue.ended()
            case .wants(let minimum, let maximum): queue.demand(minimum: minimum, maximum: maximum)
            case .wantsMessage: queue.demandMessage()
            }
            while let outcome = queue.next() { outcomes.append(outcome) }
        }
        #expect(outcomes == row.outcomes)
        #expect(queue.buffered == row.buffered)
    }

    @Test("A stream without an end returns its message in bounded, incomplete parts")
    func messageLimit() {
        var queue = ReceiveQueue()
        queue.demandMessage()
        queue.arrived(ReceiveQueue.messageLimit - 1)
        #expect(queue.next() == nil)
        queue.arrived(1)
        #expect(queue.next() == .part(ReceiveQueue.messageLimit))
        queue.demandMessage()
        queue.arrived(7)
        queue.ended()
        #expect(queue.next() == .last(7))
    }

    @Test("Returns the number of bytes that completes the oldest call")
    func wanted() {
        var queue = ReceiveQueue()
        #expect(queue.wanted == 0 && !queue.hasDemand && queue.oldest == nil)
        queue.arrived(3)
        queue.demand(minimum: 5, maximum: 9)
        queue.demandMessage()
        #expect(queue.wanted == 6 && queue.oldest == .bytes(minimum: 5, maximum: 9))
        queue.arrived(20)
        #expect(queue.wanted == 0)
        #expect(queue.next() == .part(9))
        #expect(queue.wanted == ReceiveQueue.messageLimit - 14 && queue.oldest?.maximum == .max)
    }

    @Test("Bytes bypass the queue only if they are a complete result")
    func passes() {
        var queue = ReceiveQueue()
        func pass(_ counts: Int...) -> [Bool] { counts.map { queue.passes($0) } }
        #expect(queue.isIdle && pass(1) == [false])
        queue.demand(minimum: 2, maximum: 4)
        #expect(pass(1, 5, 3, 3) == [false, false, true, false])
        #expect(!queue.hasDemand && queue.isIdle)
        queue.demandMessage()
        #expect(pass(3) == [false])
        queue.arrived(1)
        #expect(!queue.isIdle)
        #expect(queue.abandon() == 1)
        queue.demand(minimum: 4, maximum: 4)
        #expect(pass(4) == [false])
        queue.ended()
        #expect(queue.next() == .last(1) && !queue.isIdle)
    }

    @Test("Removes one call and keeps its bytes for the next")
    func forgets() {
        var queue = ReceiveQueue()
        for count in 1...3 { queue.demand(minimum: count, maximum: count) }
        #expect(!queue.forgetDemand(at: 3) && !queue.forgetDemand(at: -1))
        #expect(queue.forgetDemand(at: 1) == true)
        #expect(queue.forgetDemand(at: 0) == true)
        queue.arrived(4)
        #expect(queue.next() == .part(3) && queue.next() == nil)
        #expect(queue.buffered == 1)
    }

    @Test("Removes all calls at once")
    func abandons() {
        var queue = ReceiveQueue()
        for _ in 0..<4 { queue.demandMessage() }
        #expect(queue.abandon() == 4 && queue.abandon() == 0)
        queue.arrived(1, endsMessage: true)
        #expect(queue.next() == nil && queue.buffered == 1)
    }
}

extension ReceiveQueue.Outcome {
    static func part(_ count: Int) -> Self { .content(count: count, endsMessage: false, endsStream: false) }
    static func whole(_ count: Int) -> Self { .content(count: count, endsMessage: true, endsStream: false) }
    static func last(_ count: Int) -> Self { .content(count: count, endsMessage: true, endsStream: true) }
}
