/// Messages that one thread at a time handles, in order.
///
/// The thread that posts to an idle mailbox drains it; others only append. While the mailbox is on hold, for the answer of a delegate,
/// messages wait.
struct Mailbox<Message: Sendable>: Sendable {
    /// Names a hold, so that a late release of an earlier hold has no effect.
    struct Hold: Equatable, Sendable {
        fileprivate var number: Int
    }

    private var waiting: [Message] = []
    private var first = 0
    private var isDraining = false
    private var currentHold: Hold?
    private var holdCount = 0

    /// Whether messages wait for an answer.
    var isOnHold: Bool { currentHold != nil }

    /// Appends a message. Returns whether the caller must drain.
    mutating func post(_ message: Message) -> Bool {
        waiting.append(message)
        return claim()
    }

    /// Returns the next message for the draining thread. `nil` ends the draining.
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

    /// Holds all later messages until the release.
    mutating func hold() -> Hold {
        holdCount += 1
        let hold = Hold(number: holdCount)
        currentHold = hold
        return hold
    }

    /// Ends a hold, and puts a message before all others. Returns whether the caller must drain. A hold that has ended is ignored.
    mutating func release(_ hold: Hold, with message: Message) -> Bool {
        guard currentHold == hold else { return false }
        currentHold = nil
        waiting = [message] + waiting[first...]
        first = 0
        return claim()
    }

    /// Ends whichever hold there is. Returns whether the caller must drain.
    mutating func endHold() -> Bool {
        currentHold = nil
        return claim()
    }

    /// Replaces all messages by one and ends the hold. Returns whether the caller must drain.
    mutating func interrupt(with message: Message) -> Bool {
        waiting = [message]
        first = 0
        currentHold = nil
        return claim()
    }

    /// Removes and returns the messages that wait.
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
