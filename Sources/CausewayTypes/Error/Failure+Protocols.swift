/// Failures that protocol state machines report. The modules of these state machines import no C library, so the
/// `errno` constants are not available there.
extension Failure {
    /// The peer violated a protocol (`EPROTO`).
    package static let protocolViolation = Failure(.posix(.EPROTO))
    /// The peer ended the stream too early (`ECONNRESET`).
    package static let endedEarly = Failure(.posix(.ECONNRESET))
    /// Whether the peer closed the transport without a protocol-level close (`ECONNRESET`, `EPIPE`).
    package var isHangUp: Bool { self == .endedEarly || self == Failure(.posix(.EPIPE)) }
    /// The peer refused the protocol, or the protocol failed (`ECONNABORTED`).
    package static let aborted = Failure(.posix(.ECONNABORTED))
    /// The data is too large to store or to send (`EMSGSIZE`).
    package static let tooLong = Failure(.posix(.EMSGSIZE))
    /// The program made an invalid request (`EINVAL`).
    package static let misuse = Failure(.posix(.EINVAL))
}
