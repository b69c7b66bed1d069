/// Transport layer security over a stream, or DTLS over datagrams: a namespace.
///
/// The engine is the system's OpenSSL 3, loaded when the first connection needs it; the rules by which a peer is trusted are this
/// library's own. A connection that cannot have what its options ask for fails: it never falls back to clear text.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolTLS: NWProtocol, @unchecked Sendable {
    /// The identity of TLS.
    public static let definition = NWProtocolDefinition(name: "tls")

    /// How a connection uses TLS or DTLS.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable reference to a `Sendable` object.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// The handle that `sec_protocol_options_*` functions take: the same object on each access.
        public let securityProtocolOptions: sec_protocol_options_t

        /// Makes options with every default.
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

    /// What a TLS handshake negotiated.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is an immutable reference to a `Sendable` object.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// The handle that `sec_protocol_metadata_*` functions take.
        public let securityProtocolMetadata: sec_protocol_metadata_t

        package init(securityProtocolMetadata: sec_protocol_metadata_t) {
            self.securityProtocolMetadata = securityProtocolMetadata
            super.init(definition: NWProtocolTLS.definition)
        }
    }
}
