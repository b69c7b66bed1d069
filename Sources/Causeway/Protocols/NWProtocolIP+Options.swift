internal import CausewaySystem

extension NWProtocolIP {
    /// How a connection uses IP.
    ///
    /// There is no initialiser: take the object from ``NWParameters/ProtocolStack/internetProtocol`` and change it.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// Which address families may be used.
        public enum Version: Equatable, Hashable, Sendable {
            /// Both.
            case any
            /// IPv4 only.
            case v4
            /// IPv6 only.
            case v6
        }

        /// Which kind of local IPv6 address to connect from (RFC 5014 §3).
        public enum AddressPreference: Equatable, Hashable, Sendable {
            /// The system decides.
            case `default`
            /// Temporary addresses (RFC 8981 §3), which are harder to track.
            case temporary
            /// Addresses that stay the same.
            case stable
        }

        /// All values at one moment.
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

        /// Restricts remote and local addresses to one family, DNS answers included. Default `.any`.
        public var version: Version {
            get { storage.withLock { $0.version } }
            set { storage.withLock { $0.version = newValue } }
        }

        /// The time to live (IPv4) or hop limit (IPv6) of sent packets. 0, the default, leaves the system's.
        public var hopLimit: UInt8 {
            get { storage.withLock { $0.hopLimit } }
            set { storage.withLock { $0.hopLimit = newValue } }
        }

        /// Whether IPv6 packets keep to 1,280 bytes, which every link carries (RFC 8200 §5). Default `false`.
        ///
        /// It has no effect on IPv4.
        public var useMinimumMTU: Bool {
            get { storage.withLock { $0.useMinimumMTU } }
            set { storage.withLock { $0.useMinimumMTU = newValue } }
        }

        /// Whether packets are never fragmented: the don't-fragment bit on IPv4. Default `false`.
        public var disableFragmentation: Bool {
            get { storage.withLock { $0.disableFragmentation } }
            set { storage.withLock { $0.disableFragmentation = newValue } }
        }

        /// Whether received datagrams carry ``NWProtocolIP/Metadata/receiveTime``. Default `false`.
        public var shouldCalculateReceiveTime: Bool {
            get { storage.withLock { $0.shouldCalculateReceiveTime } }
            set { storage.withLock { $0.shouldCalculateReceiveTime = newValue } }
        }

        /// Which kind of local IPv6 address to prefer. Default `.default`.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public var localAddressPreference: AddressPreference {
            get { storage.withLock { $0.localAddressPreference } }
            set { storage.withLock { $0.localAddressPreference = newValue } }
        }

        /// Whether multicast datagrams are kept from receivers on this host. Default `false`.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public var disableMulticastLoopback: Bool {
            get { storage.withLock { $0.disableMulticastLoopback } }
            set { storage.withLock { $0.disableMulticastLoopback = newValue } }
        }
    }
}
