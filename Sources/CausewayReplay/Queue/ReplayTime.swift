/// A moment as an offline queue needs it.
package struct ReplayTime: Equatable, Sendable {
    /// The time since a fixed moment, for waits. It never goes back.
    package var uptime: Duration
    /// Milliseconds since 1970, for ages, which must survive a restart. It can jump.
    package var date: Int64

    package init(uptime: Duration, date: Int64) {
        self.uptime = uptime
        self.date = date
    }
}

/// Work that follows from an event of a ``ReplayQueue``.
package enum ReplayEffect: Equatable, Sendable {
    /// Append a record to the journal. Records keep their order.
    case store(JournalRecord)
    /// Send this operation, once the records so far are stored.
    case begin(UInt64)
    /// Cancel the attempt that runs for this operation.
    case interrupt(UInt64)
    /// Ask the resolver about an operation.
    case ask(UInt64, status: Int)
    /// Tell the program the end of an operation, once the records so far are stored.
    case finish(StoredReport)
    /// Remove the stored content, once the records so far are stored.
    case release(StoredMessage.Body)
}

/// Why an operation cannot be changed.
package enum ReplayRefusal: Error, Equatable, Sendable {
    case unknown
    /// An attempt is running.
    case busy
    case otherLane
    case full(String)
}
