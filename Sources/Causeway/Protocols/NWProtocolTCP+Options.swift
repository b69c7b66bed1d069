internal import CausewaySystem

extension NWProtocolTCP {
    /// TCP options for a connection or listener.
    ///
    /// All Boolean options are `false` by default. A numeric value of 0, the default, keeps the system's value. A negative value makes the
    /// connection fail with `.posix(.EINVAL)`; a value above the kernel's maximum is reduced to the maximum. The properties can be used
    /// from any thread.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is protected by a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// All option values, read together under the lock.
        package struct Values: Equatable, Sendable {
            package var flags: Flags = []
            package var keepalive = Keepalive()
            package var maximumSegmentSize = 0
            package var timeouts = Timeouts()

            package init() {}
        }

        /// The Boolean options. They are independent of each other.
        package struct Flags: OptionSet, Sendable {
            package let rawValue: UInt8

            package init(rawValue: UInt8) { self.rawValue = rawValue }

            package static let noDelay = Flags(rawValue: 1 << 0)
            package static let noPush = Flags(rawValue: 1 << 1)
            package static let noOptions = Flags(rawValue: 1 << 2)
            package static let retransmitFinDrop = Flags(rawValue: 1 << 3)
            package static let disableAckStretching = Flags(rawValue: 1 << 4)
            package static let enableFastOpen = Flags(rawValue: 1 << 5)
            package static let disableECN = Flags(rawValue: 1 << 6)

            /// Gets or sets one of the Boolean options.
            package subscript(flag: Flags) -> Bool {
                get { contains(flag) }
                set {
                    if newValue { insert(flag) } else { remove(flag) }
                }
            }
        }

        /// When to send keepalive probes. Times are in seconds; 0 keeps the system's value.
        package struct Keepalive: Equatable, Sendable {
            package var isEnabled = false
            package var count = 0
            package var idle = 0
            package var interval = 0
        }

        /// Time limits in seconds; 0 keeps the system's value. There is one for the handshake, one for a closed receive
        /// window, and one for data that the peer does not acknowledge.
        package struct Timeouts: Equatable, Sendable {
            package var connection = 0
            package var persist = 0
            package var connectionDrop = 0
        }

        private let storage: LockedValue<Values>

        /// Creates options with default values.
        public convenience init() {
            self.init(values: Values())
        }

        package init(values: Values) {
            storage = LockedValue(values)
            super.init(definition: NWProtocolTCP.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package override func copyOptions() -> NWProtocolOptions {
            Options(values: values)
        }

        /// Whether to send small segments immediately, without Nagle's algorithm (`TCP_NODELAY`, RFC 9293 §3.7.4).
        public var noDelay: Bool {
            get { storage.withLock { $0.flags[.noDelay] } }
            set { storage.withLock { $0.flags[.noDelay] = newValue } }
        }

        /// Whether to send only full segments (`TCP_CORK`). The kernel sends a partial segment after 200 ms.
        public var noPush: Bool {
            get { storage.withLock { $0.flags[.noPush] } }
            set { storage.withLock { $0.flags[.noPush] = newValue } }
        }

        /// Whether to send no TCP options. No effect: Linux has no such socket option.
        public var noOptions: Bool {
            get { storage.withLock { $0.flags[.noOptions] } }
            set { storage.withLock { $0.flags[.noOptions] = newValue } }
        }

        /// Whether to send keepalive probes to an idle peer (`SO_KEEPALIVE`, RFC 9293 §3.8.4).
        public var enableKeepalive: Bool {
            get { storage.withLock { $0.keepalive.isEnabled } }
            set { storage.withLock { $0.keepalive.isEnabled = newValue } }
        }

        /// The number of unanswered keepalive probes after which the connection fails (`TCP_KEEPCNT`). Maximum 127.
        public var keepaliveCount: Int {
            get { storage.withLock { $0.keepalive.count } }
            set { storage.withLock { $0.keepalive.count = newValue } }
        }

        /// The idle time before the first keepalive probe, in seconds (`TCP_KEEPIDLE`). Maximum 32,767.
        public var keepaliveIdle: Int {
            get { storage.withLock { $0.keepalive.idle } }
            set { storage.withLock { $0.keepalive.idle = newValue } }
        }

        /// The time between keepalive probes, in seconds (`TCP_KEEPINTVL`). Maximum 32,767.
        public var keepaliveInterval: Int {
            get { storage.withLock { $0.keepalive.interval } }
            set { storage.withLock { $0.keepalive.interval = newValue } }
        }

        /// The maximum segment size in both directions, in bytes (`TCP_MAXSEG`, RFC 9293 §3.7.1). Values from 1 to 87 make the connection
        /// fail with `.posix(.EINVAL)`.
        public var maximumSegmentSize: Int {
            get { storage.withLock { $0.maximumSegmentSize } }
            set { storage.withLock { $0.maximumSegmentSize = newValue } }
        }

        /// The maximum duration of the handshake with one address, in seconds. After this time the attempt fails with `.posix(.ETIMEDOUT)`.
        public var connectionTimeout: Int {
            get { storage.withLock { $0.timeouts.connection } }
            set { storage.withLock { $0.timeouts.connection = newValue } }
        }

        /// The maximum time that the peer may keep its receive window closed, in seconds (RFC 6429 §5).
        ///
        /// Sets `TCP_USER_TIMEOUT`, as ``connectionDropTime`` does. If both are set, the smaller value applies to both properties.
        public var persistTimeout: Int {
            get { storage.withLock { $0.timeouts.persist } }
            set { storage.withLock { $0.timeouts.persist = newValue } }
        }

        /// The maximum time that sent data may stay unacknowledged, in seconds (`TCP_USER_TIMEOUT`, RFC 5482 §2). After this time the
        /// connection fails.
        ///
        /// If ``persistTimeout`` is set too, the smaller value applies to both properties.
        public var connectionDropTime: Int {
            get { storage.withLock { $0.timeouts.connectionDrop } }
            set { storage.withLock { $0.timeouts.connectionDrop = newValue } }
        }

        /// Whether a closed connection waits at most 5 s for the peer's FIN (`TCP_LINGER2`). If `false`, the system's
        /// time limit applies.
        public var retransmitFinDrop: Bool {
            get { storage.withLock { $0.flags[.retransmitFinDrop] } }
            set { storage.withLock { $0.flags[.retransmitFinDrop] = newValue } }
        }

        /// Whether to acknowledge segments immediately (`TCP_QUICKACK`). The kernel may return to delayed acknowledgements later.
        public var disableAckStretching: Bool {
            get { storage.withLock { $0.flags[.disableAckStretching] } }
            set { storage.withLock { $0.flags[.disableAckStretching] = newValue } }
        }

        /// Whether to send the first bytes together with the SYN (TCP Fast Open, RFC 7413 §4).
        ///
        /// The bytes are the first message of the protocol above TCP, such as a TLS ClientHello. If there is no protocol above TCP, set
        /// ``NWParameters/allowFastOpen`` too.
        public var enableFastOpen: Bool {
            get { storage.withLock { $0.flags[.enableFastOpen] } }
            set { storage.withLock { $0.flags[.enableFastOpen] = newValue } }
        }

        /// Whether to disable ECN negotiation (RFC 3168 §6.1). No effect: Linux has no such socket option.
        public var disableECN: Bool {
            get { storage.withLock { $0.flags[.disableECN] } }
            set { storage.withLock { $0.flags[.disableECN] = newValue } }
        }
    }
}
