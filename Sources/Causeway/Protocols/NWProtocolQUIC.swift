internal import CausewaySystem

/// QUIC version 1 (RFC 9000): a namespace.
///
/// QUIC is declared and not implemented: a connection or listener that uses it fails with `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 12, iOS 15.
// SAFETY: no stored properties.
public class NWProtocolQUIC: NWProtocol, @unchecked Sendable {
    /// The identity of QUIC.
    public static let definition = NWProtocolDefinition(name: "quic")

    /// How a connection uses QUIC.
    ///
    /// Counterpart: macOS 12, iOS 15.
    // SAFETY: the only mutable state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        private struct Values: Sendable {
            var alpn: [String]
            var isDatagram = false
        }

        private let storage: Guarded<Values>

        /// The handle that `sec_protocol_options_*` functions take: the same object on each access.
        public let securityProtocolOptions: sec_protocol_options_t

        /// Makes options that offer no application protocol.
        public convenience init() {
            self.init(alpn: [])
        }

        /// Makes options that offer application protocols (RFC 7301 §3.1), best first.
        public convenience init(alpn: [String]) {
            self.init(values: Values(alpn: alpn), securityProtocolOptions: sec_protocol_options_t())
        }

        private init(values: Values, securityProtocolOptions: sec_protocol_options_t) {
            storage = Guarded(values)
            self.securityProtocolOptions = securityProtocolOptions
            super.init(definition: NWProtocolQUIC.definition)
        }

        package override func copyOptions() -> NWProtocolOptions {
            Options(values: storage.withLock { $0 }, securityProtocolOptions: securityProtocolOptions.copy())
        }

        /// The application protocols to offer, best first.
        public var alpn: [String] {
            get { storage.withLock { $0.alpn } }
            set { storage.withLock { $0.alpn = newValue } }
        }

        /// Whether the connection is the tunnel's datagram flow (RFC 9221 §5) instead of a stream. Default `false`.
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var isDatagram: Bool {
            get { storage.withLock { $0.isDatagram } }
            set { storage.withLock { $0.isDatagram = newValue } }
        }
    }
}
