internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// The messages of a group that were not sent yet. This type also records whether the loop already has a scheduled call
/// that sends them.
struct GroupOutbox: Sendable {
    private var queue = SendQueue<GroupOutbound>()
    /// The partly sent message, which waits until the socket is writable.
    private var partlySent: GroupTransmission?
    private var isTurnPosted = false
    /// The time for which the timer for expired messages is set; `nil` if no timer is set.
    private var expiryTime: Duration?

    enum Next {
        case begun(GroupTransmission)
        case new(SendQueue<GroupOutbound>.Entry)
    }

    /// A message that cannot be sent, and the failure to report to its completion handler.
    typealias Lost = (GroupOutbound, Failure?)

    mutating func append(_ entry: SendQueue<GroupOutbound>.Entry) { queue.append(entry) }

    // MARK: Turns

    /// Returns whether the caller must schedule a call on the loop that sends messages.
    ///
    /// Returns `false` if such a call is already scheduled.
    mutating func postTurn() -> Bool {
        defer { isTurnPosted = true }
        return !isTurnPosted
    }

    mutating func beginTurn() { isTurnPosted = false }

    /// Returns the message to send next. If a message is partly sent, returns that message. Otherwise returns the first
    /// message in the queue that can still be sent.
    ///
    /// - Parameters:
    ///   - now: The current time. It decides which messages have expired.
    ///   - lost: Receives the messages that come earlier in the queue and can no longer be sent.
    mutating func next(at now: Duration, _ lost: inout [Lost]) -> Next? {
        if let transmission = partlySent.take() { return .begun(transmission) }
        while let step = queue.next(at: now) {
            guard case .send(let entry) = step else {
                lost.append(step.fail())
                continue
            }
            return .new(entry)
        }
        return nil
    }

    /// Stores a message of which only some datagrams have been sent. The next call of ``next(at:_:)`` returns this
    /// message first.
    mutating func keep(_ transmission: GroupTransmission) { partlySent = transmission }

    /// Removes and returns all messages, and marks them as failed.
    mutating func removeAll() -> [GroupOutbound] {
        let entries = (partlySent.take().map { [$0.entry] } ?? []) + queue.removeAll()
        for entry in entries { entry.ticket?.progress = .failed }
        return entries.map(\.payload)
    }

    // MARK: Expiry

    /// Returns the time for which the caller must set a timer. At this time, the next message expires. Returns `nil` if
    /// no message expires, or if the current timer fires early enough.
    mutating func armExpiry() -> Duration? {
        guard let next = queue.deadline, expiryTime.map({ next < $0 }) ?? true else { return nil }
        expiryTime = next
        return next
    }

    /// Removes and returns the expired messages. Call this when the timer for `time` has fired.
    mutating func expire(at time: Duration, now: Duration) -> [Lost] {
        if expiryTime == time { expiryTime = nil }
        var lost: [Lost] = []
        while let step = queue.nextLost(at: max(time, now)) { lost.append(step.fail()) }
        return lost
    }
}

extension SendQueue<GroupOutbound>.Step {
    /// Returns the message, and the failure for its completion handler. If the message cannot be sent, marks its ticket
    /// as failed. The ticket records the message's progress.
    fileprivate func fail() -> GroupOutbox.Lost {
        switch self {
        case .send(let entry): return (entry.payload, nil)
        case .expired(let entry):
            entry.ticket?.progress = .failed
            return (entry.payload, Failure(errno: Errno.timedOut))
        case .antecedentFailed(let entry):
            entry.ticket?.progress = .failed
            return (entry.payload, Failure(errno: Errno.cancelled))
        }
    }
}
