internal import CausewaySystem

extension NWProtocolIP {
    /// IP options for a connection or listener.
    ///
    /// There is no public initializer: get the object from ``NWParameters/ProtocolStack/internetProtocol`` and change it. The properties
    /// can be used from any thread.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is protected by a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// The permitted IP versions.
        ///
        /// Counterpart: macOS 10.14, iOS 12.
        public enum Version: Equatable, Hashable, Sendable {
            /// IPv4 and IPv6.
            case any
            /// IPv4 only.
            case v4
            /// IPv6 only.
            case v6
        }

        /// The preferred kind of local IPv6 address (RFC 5014 §3).
        ///
        /// Counterpart: macOS 11, iOS 14.
        public enum AddressPreference: Equatable, Hashable, Sendable {
            /// The system selects the address.
            case `default`
            /// A temporary address (RFC 8981 §3), which makes it harder to track the host.
            case temporary
            /// A permanent address instead of a temporary address.
            case stable
        }

        /// All option values, read together under the lock.
        package struct Values: Equatable, Sendable {
            package var version: Version = .any
            package var hopLimit: UInt8 = 0
            package var useMinimumMTU = false
            package var disableFragmentation = false
            package var shouldCalculateReceiveTime = false
            package var localAddressPreference: AddressPreference = .default
            package var disableMulticastLoopback = false

            package init() {}
        }

        private let storage: LockedValue<Values>

        package init(values: Values = Values()) {
            storage = LockedValue(values)
            super.init(definition: NWProtocolIP.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package override func copyOptions() -> NWProtocolOptions {
            Options(values: values)
        }

        /// The permitted IP versions. Applies to local and remote addresses, including addresses from DNS. Default `.any`.
        public var version: Version {
            get { storage.withLock { $0.version } }
            set { storage.withLock { $0.version = newValue } }
        }

        /// The time to live (IPv4) or hop limit (IPv6) for outgoing packets. The default 0 keeps the system's value.
        public var hopLimit: UInt8 {
            get { storage.withLock { $0.hopLimit } }
            set { storage.withLock { $0.hopLimit = newValue } }
        }

        /// Whether to limit IPv6 packets to 1,280 bytes, the minimum MTU of every link (RFC 8200 §5). Default `false`.
        ///
        /// Applies to datagrams, and limits TCP segments to 1,220 bytes. No effect on IPv4.
        public var useMinimumMTU: Bool {
            get { storage.withLock { $0.useMinimumMTU } }
            set { storage.withLock { $0.useMinimumMTU = newValue } }
        }

        /// Whether to prevent fragmentation: sets the Don't Fragment bit on IPv4, and `IPV6_DONTFRAG` on IPv6. Default `false`.
        public var disableFragmentation: Bool {
            get { storage.withLock { $0.disableFragmentation } }
            set { storage.withLock { $0.disableFragmentation = newValue } }
        }

        /// Whether to record the arrival time of datagrams in ``NWProtocolIP/Metadata/receiveTime``. No effect on streams. Default `false`.
        public var shouldCalculateReceiveTime: Bool {
            get { storage.withLock { $0.shouldCalculateReceiveTime } }
            set { storage.withLock { $0.shouldCalculateReceiveTime = newValue } }
        }

        /// The preferred kind of local IPv6 address. Default `.default`.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public var localAddressPreference: AddressPreference {
            get { storage.withLock { $0.localAddressPreference } }
            set { storage.withLock { $0.localAddressPreference = newValue } }
        }

        /// Whether to turn multicast loopback off. If `true`, receivers on this host do not get this connection's multicast datagrams. No
        /// effect on streams. Default `false`.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public var disableMulticastLoopback: Bool {
            get { storage.withLock { $0.disableMulticastLoopback } }
            set { storage.withLock { $0.disableMulticastLoopback = newValue } }
        }
    }
}
