/// How long a run waits for transfers that cannot be read now.
struct UnreadableWait: Sendable {
    /// The maximum wait. Without it, a directory that stays unreadable would keep the process alive.
    let limit: Duration
    /// When the transfers became unreadable; `nil` if they can be read.
    private var since: Duration?

    init(limit: Duration) { self.limit = limit }

    /// Records whether transfers are unreadable, and returns whether the wait for them is over.
    ///
    /// - Parameters:
    ///   - isUnreadable: Whether any transfers cannot be read.
    ///   - now: The time since a fixed moment.
    mutating func isOver(isUnreadable: Bool, at now: Duration) -> Bool {
        guard isUnreadable else {
            since = nil
            return false
        }
        let start = since ?? now
        since = start
        return now - start >= limit
    }
}
