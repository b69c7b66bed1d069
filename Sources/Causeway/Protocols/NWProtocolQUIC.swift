/// The namespace for QUIC version 1 (RFC 9000).
///
/// QUIC is declared but not implemented: a connection or listener that uses it fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 12, iOS 15.
// SAFETY: no stored properties.
public class NWProtocolQUIC: NWProtocol, @unchecked Sendable {
    /// The definition of QUIC.
    public static let definition = NWProtocolDefinition(name: "quic")

    /// The error code and text with which a program closes a QUIC connection (RFC 9000 §20.2).
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct ApplicationError: ExpressibleByIntegerLiteral, Sendable {
        /// The error code. The application protocol defines its meaning.
        public let code: UInt64
        /// A text for logs; `nil` if there is none.
        public let reason: String?

        /// Creates an error with a code and no reason.
        public init(integerLiteral code: UInt64) {
            self.init(code: code)
        }

        /// Creates an error with a code and an optional reason.
        public init(code: UInt64, reason: String? = nil) {
            self.code = code
            self.reason = reason
        }
    }
}
