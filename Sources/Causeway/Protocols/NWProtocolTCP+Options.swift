internal import CausewaySystem

extension NWProtocolTCP {
    /// How a connection uses TCP. Everything is off by default; a number of 0 leaves the system's value.
    ///
    /// Negative numbers make the connection fail with `.posix(.EINVAL)`.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// All values at one moment.
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

        /// Makes options with every default.
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

        /// Whether small segments leave at once instead of waiting for acknowledgements (`TCP_NODELAY`).
        public var noDelay: Bool {
            get { storage.withLock { $0.noDelay } }
            set { storage.withLock { $0.noDelay = newValue } }
        }

        /// Whether only full segments leave (`TCP_CORK`). The kernel sends the rest after 200 ms.
        public var noPush: Bool {
            get { storage.withLock { $0.noPush } }
            set { storage.withLock { $0.noPush = newValue } }
        }

        /// Whether to send no TCP options. Linux cannot: the value is kept and ignored.
        public var noOptions: Bool {
            get { storage.withLock { $0.noOptions } }
            set { storage.withLock { $0.noOptions = newValue } }
        }

        /// Whether to probe an idle peer (`SO_KEEPALIVE`).
        public var enableKeepalive: Bool {
            get { storage.withLock { $0.enableKeepalive } }
            set { storage.withLock { $0.enableKeepalive = newValue } }
        }

        /// How many probes go unanswered before the connection fails (`TCP_KEEPCNT`).
        public var keepaliveCount: Int {
            get { storage.withLock { $0.keepaliveCount } }
            set { storage.withLock { $0.keepaliveCount = newValue } }
        }

        /// Seconds of silence before the first probe (`TCP_KEEPIDLE`).
        public var keepaliveIdle: Int {
            get { storage.withLock { $0.keepaliveIdle } }
            set { storage.withLock { $0.keepaliveIdle = newValue } }
        }

        /// Seconds between probes (`TCP_KEEPINTVL`).
        public var keepaliveInterval: Int {
            get { storage.withLock { $0.keepaliveInterval } }
            set { storage.withLock { $0.keepaliveInterval = newValue } }
        }

        /// The largest segment to send or to ask for, in bytes (`TCP_MAXSEG`).
        public var maximumSegmentSize: Int {
            get { storage.withLock { $0.maximumSegmentSize } }
            set { storage.withLock { $0.maximumSegmentSize = newValue } }
        }

        /// Seconds that a handshake may take. Then the attempt ends with `.posix(.ETIMEDOUT)`.
        public var connectionTimeout: Int {
            get { storage.withLock { $0.connectionTimeout } }
            set { storage.withLock { $0.connectionTimeout = newValue } }
        }

        /// Seconds that the peer may keep its window closed (RFC 6429 §5).
        public var persistTimeout: Int {
            get { storage.withLock { $0.persistTimeout } }
            set { storage.withLock { $0.persistTimeout = newValue } }
        }

        /// Seconds that sent data may stay unacknowledged (RFC 5482 §2, `TCP_USER_TIMEOUT`).
        public var connectionDropTime: Int {
            get { storage.withLock { $0.connectionDropTime } }
            set { storage.withLock { $0.connectionDropTime = newValue } }
        }

        /// Whether an unanswered FIN ends the connection sooner.
        public var retransmitFinDrop: Bool {
            get { storage.withLock { $0.retransmitFinDrop } }
            set { storage.withLock { $0.retransmitFinDrop = newValue } }
        }

        /// Whether segments are acknowledged at once (`TCP_QUICKACK`).
        public var disableAckStretching: Bool {
            get { storage.withLock { $0.disableAckStretching } }
            set { storage.withLock { $0.disableAckStretching = newValue } }
        }

        /// Whether the first bytes may ride on the SYN (RFC 7413 §4): those of the protocol above, such as TLS. Where TCP is the
        /// top of the stack, ``NWParameters/allowFastOpen`` has to be set as well.
        public var enableFastOpen: Bool {
            get { storage.withLock { $0.enableFastOpen } }
            set { storage.withLock { $0.enableFastOpen = newValue } }
        }

        /// Whether ECN is not negotiated (RFC 3168 §6.1).
        public var disableECN: Bool {
            get { storage.withLock { $0.disableECN } }
            set { storage.withLock { $0.disableECN = newValue } }
        }
    }
}
