/// The namespace for TLS (over a stream transport) and DTLS (over datagrams).
///
/// The system's OpenSSL 3 library implements the protocols; it is loaded when the first connection needs it. Causeway itself decides
/// whether to trust a peer's certificate. If a connection cannot meet its options, it fails; it never continues without encryption.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolTLS: NWProtocol, @unchecked Sendable {
    /// The definition of TLS.
    public static let definition = NWProtocolDefinition(name: "tls")

    /// TLS or DTLS options for a connection or listener.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable reference to a `Sendable` object.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// The options object for the `sec_protocol_options_*` functions. Each access returns the same object.
        public let securityProtocolOptions: sec_protocol_options_t

        /// Creates options with default values.
        public convenience init() {
            self.init(securityProtocolOptions: sec_protocol_options_t())
        }

        package init(securityProtocolOptions: sec_protocol_options_t) {
            self.securityProtocolOptions = securityProtocolOptions
            super.init(definition: NWProtocolTLS.definition)
        }

        package override func copyOptions() -> NWProtocolOptions {
            Options(securityProtocolOptions: securityProtocolOptions.copy())
        }
    }

    /// The result of a TLS or DTLS handshake.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable reference to a `Sendable` object.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// The metadata object for the `sec_protocol_metadata_*` functions.
        public let securityProtocolMetadata: sec_protocol_metadata_t

        package init(securityProtocolMetadata: sec_protocol_metadata_t) {
            self.securityProtocolMetadata = securityProtocolMetadata
            super.init(definition: NWProtocolTLS.definition)
        }
    }
}
