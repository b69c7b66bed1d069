/// The current time on both clocks that an offline queue uses.
package struct ReplayTime: Equatable, Sendable {
    /// Monotonic time since a fixed moment, for waits.
    package var uptime: Duration
    /// Milliseconds since 1970, from which ages are computed, also across restarts. The system clock can jump.
    package var date: Int64

    package init(uptime: Duration, date: Int64) {
        self.uptime = uptime
        self.date = date
    }
}

/// Work for a ``ReplayQueue``'s owner.
package enum ReplayEffect: Equatable, Sendable {
    /// Append a record to the journal, in order.
    case store(JournalRecord)
    /// Send the operation after all previous records are stored.
    case begin(UInt64)
    /// Cancel the operation's running attempt.
    case interrupt(UInt64)
    /// Ask the resolver about an operation.
    case ask(UInt64, status: Int)
    /// Report an operation's end to the program after all previous records are stored.
    case finish(StoredReport)
    /// Delete the stored content after all previous records are stored.
    case release(StoredMessage.Body)
}

/// Why an operation cannot be changed.
package enum ReplayRefusal: Error, Equatable, Sendable {
    case unknown
    /// The operation is in an attempt or waits for the resolver; or, for ``ReplayQueue/resume(_:)``, is not stopped.
    case busy
    /// The two operations are in different lanes.
    case otherLane
    /// A limit would be exceeded.
    case full(String)
}
