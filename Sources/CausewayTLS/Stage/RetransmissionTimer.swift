/// The time of a DTLS engine's next retransmission (RFC 6347 §4.2.4).
struct RetransmissionTimer {
    /// The current time, as the caller stated it in the latest call to the stage.
    var now: Duration = .zero
    /// The time at which the retransmission is due; `nil` without a pending retransmission.
    private(set) var deadline: Duration?

    /// Sets the deadline from the engine's remaining timeout. The deadline is stored, because the engine computes the
    /// timeout from its own clock: a later query would result in a different deadline.
    mutating func set(after timeout: Duration?) { deadline = timeout.map { now + $0 } }
}
