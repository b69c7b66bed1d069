/// A queue of messages. Only one thread at a time handles messages, in order.
///
/// A thread that posts a message to an idle mailbox handles the queued messages, or leaves this to another thread.
/// Until the mailbox is empty, other threads only append messages. While the task waits for a delegate's response, the
/// mailbox is on hold. All messages then stay in the queue.
struct Mailbox<Message: Sendable>: Sendable {
    /// Identifies a hold: a period in which the mailbox handles no messages. If an earlier hold is released late, this
    /// does not end a later hold.
    struct Hold: Equatable, Sendable {
        fileprivate var number: Int
    }

    private var waiting: [Message] = []
    private var first = 0
    private var isDraining = false
    private var currentHold: Hold?
    private var holdCount = 0

    /// Whether the mailbox is on hold: messages stay in the queue for now, and no thread handles them.
    var isOnHold: Bool { currentHold != nil }

    /// Appends a message. Returns whether the caller must drain the mailbox.
    mutating func post(_ message: Message) -> Bool {
        waiting.append(message)
        return claim()
    }

    /// Reserves an idle mailbox for the caller. The caller can then handle a message at once, without storing it in the
    /// queue. Afterwards, the caller must drain the mailbox or call ``endClaim()``.
    ///
    /// Returns `false` if the mailbox is on hold, if messages are queued, or if another thread is handling messages.
    mutating func claimIfIdle() -> Bool {
        guard !isDraining, currentHold == nil, first == waiting.count else { return false }
        isDraining = true
        return true
    }

    /// Ends the exclusive access that ``claimIfIdle()`` gave. Returns whether another thread must now handle messages
    /// that were posted in the meantime.
    mutating func endClaim() -> Bool {
        isDraining = false
        return claim()
    }

    /// Returns the next message for the draining thread. If the result is `nil`, the thread must stop draining.
    mutating func next() -> Message? {
        guard currentHold == nil, first < waiting.count else {
            isDraining = false
            return nil
        }
        let message = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
        return message
    }

    /// Puts the mailbox on hold: no message is returned until the hold is released.
    mutating func hold() -> Hold {
        holdCount += 1
        let hold = Hold(number: holdCount)
        currentHold = hold
        return hold
    }

    /// Ends a hold, and inserts a message before all waiting messages. Returns whether the caller must drain the
    /// mailbox. Changes nothing if the hold has already ended.
    mutating func release(_ hold: Hold, with message: Message) -> Bool {
        guard currentHold == hold else { return false }
        currentHold = nil
        waiting = [message] + waiting[first...]
        first = 0
        return claim()
    }

    /// Replaces all waiting messages with one message, and ends the current hold. Returns whether the caller must
    /// deliver the message.
    mutating func interrupt(with message: Message) -> Bool {
        waiting = [message]
        first = 0
        currentHold = nil
        return claim()
    }

    /// Removes and returns all queued messages.
    mutating func takeAll() -> [Message] {
        defer {
            waiting = []
            first = 0
        }
        return Array(waiting[first...])
    }

    private mutating func claim() -> Bool {
        guard !isDraining, currentHold == nil, first < waiting.count else { return false }
        isDraining = true
        return true
    }
}
