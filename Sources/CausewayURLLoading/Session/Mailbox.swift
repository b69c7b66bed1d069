/// A queue of messages that are handled in order by one thread at a time.
///
/// After a thread has posted a message to an idle mailbox, it drains the mailbox, or lets another thread do so. Until
/// the mailbox is empty, other threads only append messages. While the task waits for a delegate's response, the
/// mailbox is on hold: messages then stay in the queue.
struct Mailbox<Message: Sendable>: Sendable {
    /// Identifies a period in which no messages are handled (a hold). With it, a late release of an earlier hold has no
    /// effect.
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

    /// Reserves an idle mailbox for the caller, which can then handle a message at once without storing it in the
    /// queue. The caller must drain the mailbox afterwards, or call ``endClaim()``. Returns `false` if the mailbox is
    /// on hold, or if messages are queued or being handled.
    mutating func claimIfIdle() -> Bool {
        guard !isDraining, currentHold == nil, first == waiting.count else { return false }
        isDraining = true
        return true
    }

    /// Ends the exclusive access that ``claimIfIdle()`` gave, without handling the messages that were posted since
    /// then. Returns whether another thread must handle these messages.
    mutating func endClaim() -> Bool {
        isDraining = false
        return claim()
    }

    /// Returns the next message for the draining thread. After `nil` the thread must stop draining.
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

    /// Releases a hold and inserts a message before all others. Returns whether the caller must drain the mailbox. Has
    /// no effect if the hold has already ended.
    mutating func release(_ hold: Hold, with message: Message) -> Bool {
        guard currentHold == hold else { return false }
        currentHold = nil
        waiting = [message] + waiting[first...]
        first = 0
        return claim()
    }

    /// Replaces all messages with one message and ends the current hold. Returns whether the caller must drain.
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
