internal import DequeModule

/// Assigns received content to pending receive calls by counting bytes.
///
/// The queue stores no bytes. The code that uses the queue keeps the received bytes in a buffer. For each result of
/// ``next()``, that code removes the number of bytes in the result from the front of the buffer. A byte stream counts
/// as one message, which ends with the stream. Datagrams and framed protocols consist of many messages.
package struct ReceiveQueue: Sendable {
    package enum Demand: Equatable, Sendable {
        /// The receive call takes at most `maximum` bytes. It waits for at least `minimum` bytes, or for the message's
        /// end.
        case bytes(minimum: Int, maximum: Int)
        /// A complete message of any length, up to ``ReceiveQueue/messageLimit``.
        case message
    }

    package enum Outcome: Equatable, Sendable {
        /// Remove `count` bytes from the front of the buffer. Deliver them to the oldest receive call that waits.
        case content(count: Int, endsMessage: Bool, endsStream: Bool)
        /// The end of the stream was already delivered. Complete the oldest receive call without content. All later
        /// calls are completed in the same way.
        case nothingMore
    }

    /// The maximum number of bytes to buffer for a receive call that waits for a complete message (`Demand.message`).
    /// This limits the memory that a peer can occupy. A longer message is delivered in parts, and each part except the
    /// last is marked as incomplete.
    package static let messageLimit = 16 << 20

    private struct Message {
        var count: Int
        var isWhole: Bool
    }

    private var demands = InlineFirstQueue<Demand>()
    private var messages = InlineFirstQueue<Message>()
    /// Whether the peer has ended its direction of the stream. Content that arrived earlier may still be pending.
    package private(set) var hasEnded = false
    private var endWasDelivered = false
    /// The number of bytes in the buffer, over all messages.
    package private(set) var buffered = 0

    package init() {}

    /// Whether the buffer is empty, and the input has not ended.
    package var isIdle: Bool {
        !hasEnded && buffered == 0 && messages.rest.isEmpty && messages.first?.isWhole != true
    }

    package var hasDemand: Bool { !demands.isEmpty }
    /// What the oldest pending receive call waits for. `nil` if no call is pending.
    package var oldest: Demand? { demands.first }

    /// The number of bytes still needed to satisfy the oldest receive call in full: a size hint for the next read.
    package var wanted: Int {
        switch demands.first {
        case .bytes(_, let maximum): max(0, maximum - buffered)
        case .message: max(0, Self.messageLimit - buffered)
        case nil: 0
        }
    }

    /// Adds a pending receive call. A minimum or maximum below 1 counts as 1.
    package mutating func demand(minimum: Int, maximum: Int) {
        let bounds = Self.bounds(minimum: minimum, maximum: maximum)
        demands.append(.bytes(minimum: bounds.minimum, maximum: bounds.maximum))
    }

    /// Corrects a receive call's bounds, so that both are at least 1 and the minimum is not greater than the maximum.
    package static func bounds(minimum: Int, maximum: Int) -> (minimum: Int, maximum: Int) {
        (max(1, min(minimum, maximum)), max(1, maximum))
    }

    package mutating func demandMessage() { demands.append(.message) }

    /// Removes the pending receive call at `position` in the queue. Returns `false` if the queue has no call at this
    /// position.
    package mutating func forgetDemand(at position: Int) -> Bool {
        var index = -1
        return demands.removeFirst { _ in
            index += 1
            return index == position
        } != nil
    }

    /// Removes the oldest pending receive call.
    package mutating func dropOldest() { _ = demands.popFirst() }

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

    /// Tries to pass `count` bytes of an unfinished message directly to the oldest receive call. This is possible only
    /// if the buffer is empty and the call accepts this number of bytes. Returns `true` if the call was completed. The
    /// bytes then do not count as buffered.
    package mutating func passes(_ count: Int) -> Bool {
        guard isIdle, case .bytes(let minimum, let maximum) = demands.first, minimum <= count, count <= maximum
        else { return false }
        _ = demands.popFirst()
        return true
    }

    /// Whether the end of the stream was delivered to a receive call.
    package var hasDeliveredEnd: Bool { endWasDelivered }

    /// Records that the peer sends no more content.
    package mutating func ended() { hasEnded = true }

    /// Removes all pending receive calls and returns their number. The owner must complete these calls.
    package mutating func abandon() -> Int {
        let count = demands.count
        demands = InlineFirstQueue()
        return count
    }

    /// Returns the next result for the oldest pending receive call; `nil` if that call must wait. Call this method until it returns `nil`.
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
    /// The maximum number of bytes that the receive call accepts.
    package var maximum: Int {
        switch self {
        case .bytes(_, let maximum): maximum
        case .message: .max
        }
    }
}
