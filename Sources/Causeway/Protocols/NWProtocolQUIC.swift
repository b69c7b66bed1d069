/// QUIC version 1 (RFC 9000): a namespace.
///
/// QUIC is declared and not implemented: a connection or listener that uses it fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 12, iOS 15.
// SAFETY: no stored properties.
public class NWProtocolQUIC: NWProtocol, @unchecked Sendable {
    /// The identity of QUIC.
    public static let definition = NWProtocolDefinition(name: "quic")

    /// Why a program ended a stream or a tunnel (RFC 9000 §20.2).
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct ApplicationError: ExpressibleByIntegerLiteral, Sendable {
        /// The code, of the application protocol's own numbering.
        public let code: UInt64
        /// A text for logs.
        public let reason: String?

        public init(integerLiteral code: UInt64) {
            self.init(code: code)
        }

        /// Makes an error.
        public init(code: UInt64, reason: String? = nil) {
            self.code = code
            self.reason = reason
        }
    }
}
