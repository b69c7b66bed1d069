/// The current time on both clocks that an offline queue uses.
package struct ReplayTime: Equatable, Sendable {
    /// Monotonic time since a fixed moment, for waits.
    package var uptime: Duration
    /// Milliseconds since 1970. The ages of operations are computed from this date, also across restarts. The system
    /// clock can jump.
    package var date: Int64

    package init(uptime: Duration, date: Int64) {
        self.uptime = uptime
        self.date = date
    }
}

/// An action that the owner of a ``ReplayQueue`` must perform.
package enum ReplayEffect: Equatable, Sendable {
    /// Append a record to the journal, in order.
    case store(JournalRecord)
    /// Send the operation, but only after all previous records are stored.
    case begin(UInt64)
    /// Cancel the operation's running attempt.
    case interrupt(UInt64)
    /// Ask the program's callback what to do with a refused operation.
    case ask(UInt64, status: Int)
    /// Report an operation's end to the program, but only after all previous records are stored.
    case finish(StoredReport)
    /// Delete the stored content, but only after all previous records are stored.
    case release(StoredMessage.Body)
}

/// Why an operation cannot be changed.
package enum ReplayRefusal: Error, Equatable, Sendable {
    case unknown
    /// The operation is being sent, or waits for the program's callback for refused operations.
    /// ``ReplayQueue/resume(_:)`` throws this error if sending has not stopped at the operation.
    case busy
    /// The two operations are in different lanes. An operation can only be moved within its lane, a list of operations
    /// that are sent one after another.
    case otherLane
    /// The queue would exceed its maximum number of operations or its maximum total size.
    case full(String)
}
