/// The time of a DTLS engine's next retransmission (RFC 6347 §4.2.4).
struct RetransmissionTimer {
    /// The maximum time until the timeout of the engine is read again.
    ///
    /// OpenSSL compares its timeout with the wall clock. If the clock is set back, the remaining time can become hours.
    /// OpenSSL retransmits nothing during this time. Only the time limit of the handshake then ends the wait. When the
    /// clock is corrected, the retransmission is due at once.
    static let maximumWait: Duration = .seconds(1)

    /// The current time, as the caller stated it in the latest call to the stage.
    var now: Duration = .zero
    /// The time at which the retransmission is due, or at which the engine's timeout must be read again. `nil` if no
    /// retransmission is pending.
    private(set) var deadline: Duration?

    /// Sets the deadline from the engine's remaining timeout. The timer stores the deadline, because the engine uses
    /// another clock. A later query would give a different deadline.
    mutating func set(after timeout: Duration?) { deadline = timeout.map { now + min($0, Self.maximumWait) } }
}
