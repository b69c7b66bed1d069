/// Failures that protocol machines report, which have no other way to an `errno`.
extension Failure {
    /// The peer broke the rules of a protocol (`EPROTO`).
    package static let protocolViolation = Failure(.posix(.EPROTO))
    /// The peer ended before it should have (`ECONNRESET`).
    package static let endedEarly = Failure(.posix(.ECONNRESET))
    /// Whether the peer closed the transport without saying goodbye (`ECONNRESET`, `EPIPE`).
    package var isHangUp: Bool { self == .endedEarly || self == Failure(.posix(.EPIPE)) }
    /// The peer did not agree to speak the protocol, or the protocol gave up (`ECONNABORTED`).
    package static let aborted = Failure(.posix(.ECONNABORTED))
    /// More than may be held or sent at once (`EMSGSIZE`).
    package static let tooLong = Failure(.posix(.EMSGSIZE))
    /// The program asked for what cannot be (`EINVAL`).
    package static let misuse = Failure(.posix(.EINVAL))
}
