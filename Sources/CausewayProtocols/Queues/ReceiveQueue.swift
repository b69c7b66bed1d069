internal import DequeModule

/// Matches arriving content with the calls that wait for it, by counting bytes.
///
/// The queue holds no bytes: its owner keeps them in a buffer and takes from its front what ``next()`` says. A byte stream
/// is one message that ends when the peer ends it; datagrams and framed protocols are many messages.
package struct ReceiveQueue: Sendable {
    package enum Demand: Equatable, Sendable {
        /// At least `minimum` bytes, fewer only where the message ends first, and never more than `maximum`.
        case bytes(minimum: Int, maximum: Int)
        /// A whole message, however long, up to the queue's limit.
        case message
    }

    package enum Outcome: Equatable, Sendable {
        /// Take `count` bytes off the front of the buffer for the oldest call.
        case content(count: Int, endsMessage: Bool, endsStream: Bool)
        /// The peer ended the stream before: the oldest call gets nothing, and every later one neither.
        case nothingMore
    }

    /// What a stream delivers of a `message` demand at once when the peer never ends it. Beyond it the pieces come one
    /// by one, each marked as incomplete, so that a peer cannot make the process grow without bound.
    package static let messageLimit = 16 << 20

    private struct Message {
        var count: Int
        var isWhole: Bool
    }

    private var demands = InlineFirstQueue<Demand>()
    private var messages = InlineFirstQueue<Message>()
    /// The peer has ended its side; what came before may still wait.
    package private(set) var hasEnded = false
    private var endWasDelivered = false
    /// Bytes in all messages.
    package private(set) var buffered = 0

    package init() {}

    /// Nothing that arrived waits for a call, and more may come.
    package var isIdle: Bool {
        !hasEnded && buffered == 0 && messages.rest.isEmpty && messages.first?.isWhole != true
    }

    package var hasDemand: Bool { !demands.isEmpty }
    /// What the oldest waiting call asked for.
    package var oldest: Demand? { demands.first }

    /// How many bytes would complete the oldest call if they arrived in one piece: a hint for how much to read.
    package var wanted: Int {
        switch demands.first {
        case .bytes(_, let maximum): max(0, maximum - buffered)
        case .message: max(0, Self.messageLimit - buffered)
        case nil: 0
        }
    }

    /// A program may pass any number: anything below one counts as one.
    package mutating func demand(minimum: Int, maximum: Int) {
        let bounds = Self.bounds(minimum: minimum, maximum: maximum)
        demands.append(.bytes(minimum: bounds.minimum, maximum: bounds.maximum))
    }

    /// What is waited for, and what is given at most: never more than `maximum`, however much was to be waited for.
    package static func bounds(minimum: Int, maximum: Int) -> (minimum: Int, maximum: Int) {
        (max(1, min(minimum, maximum)), max(1, maximum))
    }

    package mutating func demandMessage() { demands.append(.message) }

    /// Forgets the call at `position` among those waiting. Returns whether there was one.
    package mutating func forgetDemand(at position: Int) -> Bool {
        var index = -1
        return demands.removeFirst { _ in
            index += 1
            return index == position
        } != nil
    }

    package mutating func arrived(_ count: Int, endsMessage: Bool = false) {
        guard !hasEnded else { return }
        buffered += count
        if messages.rest.isEmpty, let head = messages.first, !head.isWhole {
            messages.first = Message(count: head.count + count, isWhole: endsMessage)
        } else if let tail = messages.rest.last, !tail.isWhole {
            messages.rest[messages.rest.count - 1] = Message(count: tail.count + count, isWhole: endsMessage)
        } else {
            messages.append(Message(count: count, isWhole: endsMessage))
        }
    }

    /// The same for bytes of a message that goes on, where they are the answer of the oldest call and nothing stands before them.
    /// Returns whether it was so: then the call is answered, and there is nothing more to take.
    package mutating func passes(_ count: Int) -> Bool {
        guard isIdle, case .bytes(let minimum, let maximum) = demands.first, minimum <= count, count <= maximum
        else { return false }
        _ = demands.popFirst()
        return true
    }

    /// The oldest call was given the end.
    package var hasDeliveredEnd: Bool { endWasDelivered }

    /// The peer will send no more.
    package mutating func ended() { hasEnded = true }

    /// Drops every waiting call: their owner answers them. Returns how many there were.
    package mutating func abandon() -> Int {
        let count = demands.count
        demands = InlineFirstQueue()
        return count
    }

    /// The next answer, or `nil` when the oldest call must go on waiting. Call it until it returns `nil`.
    package mutating func next() -> Outcome? {
        guard let demand = demands.first else { return nil }
        guard let head = messages.first else { return hasEnded ? answerEnd() : nil }
        let isLast = hasEnded && messages.rest.isEmpty
        let isWhole = head.isWhole || isLast
        let take: Int
        switch demand {
        case .bytes(let minimum, let maximum):
            guard head.count >= minimum || isWhole else { return nil }
            take = min(head.count, maximum)
        case .message:
            guard isWhole || head.count >= Self.messageLimit else { return nil }
            take = head.count
        }
        return deliver(take, of: head, isWhole: isWhole, endsStream: isLast && !head.isWhole)
    }

    private mutating func deliver(_ take: Int, of head: Message, isWhole: Bool, endsStream: Bool) -> Outcome {
        _ = demands.popFirst()
        buffered -= take
        let endsMessage = take == head.count && isWhole
        if endsMessage {
            _ = messages.popFirst()
        } else {
            messages.first = Message(count: head.count - take, isWhole: head.isWhole)
        }
        if endsMessage && endsStream { endWasDelivered = true }
        return .content(count: take, endsMessage: endsMessage, endsStream: endsMessage && endsStream)
    }

    private mutating func answerEnd() -> Outcome {
        _ = demands.popFirst()
        guard endWasDelivered else {
            endWasDelivered = true
            return .content(count: 0, endsMessage: true, endsStream: true)
        }
        return .nothingMore
    }
}

extension ReceiveQueue.Demand {
    /// The most bytes that answer it.
    package var maximum: Int {
        switch self {
        case .bytes(_, let maximum): maximum
        case .message: .max
        }
    }
}
