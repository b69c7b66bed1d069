/// The time of a DTLS engine's next retransmission (RFC 6347 §4.2.4).
struct RetransmissionTimer {
    /// The maximum time until the engine's timeout is read again. OpenSSL compares with the wall clock: if that is set
    /// back, the remaining time can grow to hours, and if it is then corrected, the retransmission is due at once.
    /// While the clock is behind, OpenSSL retransmits nothing, so only the time limit of the handshake ends the wait.
    static let maximumWait: Duration = .seconds(1)

    /// The current time, as the caller stated it in the latest call to the stage.
    var now: Duration = .zero
    /// The time at which the retransmission is due, or the timeout must be read again; `nil` without a pending
    /// retransmission.
    private(set) var deadline: Duration?

    /// Sets the deadline from the engine's remaining timeout. The deadline is stored, because the engine computes the
    /// timeout from its own clock: a later query would result in a different deadline.
    mutating func set(after timeout: Duration?) { deadline = timeout.map { now + min($0, Self.maximumWait) } }
}
