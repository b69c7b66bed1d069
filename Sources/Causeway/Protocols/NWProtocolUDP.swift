internal import CausewaySystem

/// The namespace for UDP, the User Datagram Protocol (RFC 768).
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolUDP: NWProtocol, @unchecked Sendable {
    /// The definition of UDP.
    public static let definition = NWProtocolDefinition(name: "udp")

    /// UDP options for a connection or listener.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is protected by a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        private let storage: LockedValue<Bool>

        /// Creates options with default values.
        public convenience init() {
            self.init(preferNoChecksum: false)
        }

        package init(preferNoChecksum: Bool) {
            storage = LockedValue(preferNoChecksum)
            super.init(definition: NWProtocolUDP.definition)
        }

        package override func copyOptions() -> NWProtocolOptions {
            Options(preferNoChecksum: preferNoChecksum)
        }

        /// Whether to send IPv4 datagrams without a checksum, as RFC 768 permits. Default `false`. No effect on IPv6, where the checksum is
        /// mandatory (RFC 8200 §8.1).
        public var preferNoChecksum: Bool {
            get { storage.withLock { $0 } }
            set { storage.withLock { $0 = newValue } }
        }
    }

    /// Marks a content context as one UDP datagram. It contains no values.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: no stored properties.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Creates the metadata.
        public init() {
            super.init(definition: NWProtocolUDP.definition)
        }
    }
}
