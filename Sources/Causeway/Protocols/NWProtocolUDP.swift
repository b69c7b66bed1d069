internal import CausewaySystem

/// The user datagram protocol: a namespace.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolUDP: NWProtocol, @unchecked Sendable {
    /// The identity of UDP.
    public static let definition = NWProtocolDefinition(name: "udp")

    /// How a connection uses UDP.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        private let storage: LockedValue<Bool>

        /// Makes options with every default.
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

        /// Whether IPv4 datagrams go without a checksum (RFC 768 allows 0). Default `false`. IPv6 needs one.
        public var preferNoChecksum: Bool {
            get { storage.withLock { $0 } }
            set { storage.withLock { $0 = newValue } }
        }
    }

    /// Marks a context as one UDP datagram. It has no values.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: no stored properties.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Makes a marker.
        public init() {
            super.init(definition: NWProtocolUDP.definition)
        }
    }
}
