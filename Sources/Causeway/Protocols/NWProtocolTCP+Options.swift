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
            package var noDelay = false
            package var noPush = false
            package var noOptions = false
            package var enableKeepalive = false
            package var keepaliveCount = 0
            package var keepaliveIdle = 0
            package var keepaliveInterval = 0
            package var maximumSegmentSize = 0
            package var connectionTimeout = 0
            package var persistTimeout = 0
            package var connectionDropTime = 0
            package var retransmitFinDrop = false
            package var disableAckStretching = false
            package var enableFastOpen = false
            package var disableECN = false

            package init() {}
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
            get { storage.withLock { $0.noDelay } }
            set { storage.withLock { $0.noDelay = newValue } }
        }

        /// Whether to send only full segments (`TCP_CORK`). The kernel sends a partial segment after 200 ms.
        public var noPush: Bool {
            get { storage.withLock { $0.noPush } }
            set { storage.withLock { $0.noPush = newValue } }
        }

        /// Whether to send no TCP options. No effect: Linux has no such socket option.
        public var noOptions: Bool {
            get { storage.withLock { $0.noOptions } }
            set { storage.withLock { $0.noOptions = newValue } }
        }

        /// Whether to send keepalive probes to an idle peer (`SO_KEEPALIVE`, RFC 9293 §3.8.4).
        public var enableKeepalive: Bool {
            get { storage.withLock { $0.enableKeepalive } }
            set { storage.withLock { $0.enableKeepalive = newValue } }
        }

        /// The number of unanswered keepalive probes after which the connection fails (`TCP_KEEPCNT`). Maximum 127.
        public var keepaliveCount: Int {
            get { storage.withLock { $0.keepaliveCount } }
            set { storage.withLock { $0.keepaliveCount = newValue } }
        }

        /// The idle time before the first keepalive probe, in seconds (`TCP_KEEPIDLE`). Maximum 32,767.
        public var keepaliveIdle: Int {
            get { storage.withLock { $0.keepaliveIdle } }
            set { storage.withLock { $0.keepaliveIdle = newValue } }
        }

        /// The time between keepalive probes, in seconds (`TCP_KEEPINTVL`). Maximum 32,767.
        public var keepaliveInterval: Int {
            get { storage.withLock { $0.keepaliveInterval } }
            set { storage.withLock { $0.keepaliveInterval = newValue } }
        }

        /// The maximum segment size in both directions, in bytes (`TCP_MAXSEG`, RFC 9293 §3.7.1). Values from 1 to 87 make the connection
        /// fail with `.posix(.EINVAL)`.
        public var maximumSegmentSize: Int {
            get { storage.withLock { $0.maximumSegmentSize } }
            set { storage.withLock { $0.maximumSegmentSize = newValue } }
        }

        /// The maximum duration of the handshake with one address, in seconds. After this time the attempt fails with `.posix(.ETIMEDOUT)`.
        public var connectionTimeout: Int {
            get { storage.withLock { $0.connectionTimeout } }
            set { storage.withLock { $0.connectionTimeout = newValue } }
        }

        /// The maximum time that the peer may keep its receive window closed, in seconds (RFC 6429 §5).
        ///
        /// Sets `TCP_USER_TIMEOUT`, as ``connectionDropTime`` does. If both are set, the smaller value applies to both properties.
        public var persistTimeout: Int {
            get { storage.withLock { $0.persistTimeout } }
            set { storage.withLock { $0.persistTimeout = newValue } }
        }

        /// The maximum time that sent data may stay unacknowledged, in seconds (`TCP_USER_TIMEOUT`, RFC 5482 §2). After this time the
        /// connection fails.
        ///
        /// If ``persistTimeout`` is set too, the smaller value applies to both properties.
        public var connectionDropTime: Int {
            get { storage.withLock { $0.connectionDropTime } }
            set { storage.withLock { $0.connectionDropTime = newValue } }
        }

        /// Whether to wait at most 5 s for the peer's FIN after the connection is closed (`TCP_LINGER2`).
        public var retransmitFinDrop: Bool {
            get { storage.withLock { $0.retransmitFinDrop } }
            set { storage.withLock { $0.retransmitFinDrop = newValue } }
        }

        /// Whether to acknowledge segments immediately (`TCP_QUICKACK`). The kernel may return to delayed acknowledgements later.
        public var disableAckStretching: Bool {
            get { storage.withLock { $0.disableAckStretching } }
            set { storage.withLock { $0.disableAckStretching = newValue } }
        }

        /// Whether to send the first bytes together with the SYN (TCP Fast Open, RFC 7413 §4).
        ///
        /// The bytes are the first message of the protocol above TCP, such as a TLS ClientHello. If there is no protocol above TCP, set
        /// ``NWParameters/allowFastOpen`` too.
        public var enableFastOpen: Bool {
            get { storage.withLock { $0.enableFastOpen } }
            set { storage.withLock { $0.enableFastOpen = newValue } }
        }

        /// Whether to disable ECN negotiation (RFC 3168 §6.1). No effect: Linux has no such socket option.
        public var disableECN: Bool {
            get { storage.withLock { $0.disableECN } }
            set { storage.withLock { $0.disableECN = newValue } }
        }
    }
}
