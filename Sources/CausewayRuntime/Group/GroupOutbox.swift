internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// A group's messages that were not sent yet. Also records whether a call that sends them is scheduled on the loop.
struct GroupOutbox: Sendable {
    private var queue = SendQueue<GroupOutbound>()
    /// The partly sent message, which waits until the socket is writable.
    private var partlySent: GroupTransmission?
    private var isTurnPosted = false
    /// The time for which a timer is set, to fail messages that have expired by then; `nil` if no timer is set.
    private var expiryTime: Duration?

    enum Next {
        case begun(GroupTransmission)
        case new(SendQueue<GroupOutbound>.Entry)
    }

    /// A message that cannot be sent, with the failure for its completion handler.
    typealias Lost = (GroupOutbound, Failure?)

    mutating func append(_ entry: SendQueue<GroupOutbound>.Entry) { queue.append(entry) }

    // MARK: Turns

    /// Returns whether the caller must schedule a call that sends messages on the loop: `false` if one is already
    /// scheduled.
    mutating func postTurn() -> Bool {
        defer { isTurnPosted = true }
        return !isTurnPosted
    }

    mutating func beginTurn() { isTurnPosted = false }

    /// Returns the message to send next: the partly sent message, or else the first message in the queue that can still
    /// be sent.
    ///
    /// - Parameters:
    ///   - now: The time, which decides which messages have expired.
    ///   - lost: Gets the earlier messages in the queue that can no longer be sent.
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

    /// Stores a partly sent message, so that ``next(at:_:)`` returns this message first.
    mutating func keep(_ transmission: GroupTransmission) { partlySent = transmission }

    /// Removes and returns all messages, and marks them as failed.
    mutating func removeAll() -> [GroupOutbound] {
        let entries = (partlySent.take().map { [$0.entry] } ?? []) + queue.removeAll()
        for entry in entries { entry.ticket?.progress = .failed }
        return entries.map(\.payload)
    }

    // MARK: Expiry

    /// Returns the time at which the next message expires, for a new timer. Returns `nil` if no message expires, or if
    /// the current timer fires early enough.
    mutating func armExpiry() -> Duration? {
        guard let next = queue.deadline, expiryTime.map({ next < $0 }) ?? true else { return nil }
        expiryTime = next
        return next
    }

    /// Removes and returns the messages that have expired, after the timer for `time` has fired.
    mutating func expire(at time: Duration, now: Duration) -> [Lost] {
        if expiryTime == time { expiryTime = nil }
        var lost: [Lost] = []
        while let step = queue.nextLost(at: max(time, now)) { lost.append(step.fail()) }
        return lost
    }
}

extension SendQueue<GroupOutbound>.Step {
    /// Returns the message with the failure for its completion handler. If the message cannot be sent, marks its
    /// ticket, which records the message's progress, as failed.
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
