internal import CausewaySystem

extension NWProtocolQUIC {
    /// How a connection uses QUIC. A number of 0, the default, leaves the choice to the engine.
    ///
    /// Counterpart: macOS 12, iOS 15.
    // SAFETY: the only mutable state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// Which ways a stream goes (RFC 9000 §2.1).
        public enum Direction: Equatable, Hashable, Sendable {
            /// Both.
            case bidirectional
            /// From whoever opened it to the other.
            case unidirectional
        }

        /// All values at one moment.
        package struct Values: Equatable, Sendable {
            package var alpn: [String]
            package var direction: Direction = .bidirectional
            package var isDatagram = false
            package var idleTimeout = 0
            package var maxUDPPayloadSize = 0
            package var initialMaxData = 0
            package var initialMaxStreamDataBidirectionalRemote = 0
            package var initialMaxStreamDataBidirectionalLocal = 0
            package var initialMaxStreamDataUnidirectional = 0
            package var initialMaxStreamsBidirectional = 0
            package var initialMaxStreamsUnidirectional = 0
            package var maxDatagramFrameSize = 0

            package init(alpn: [String] = []) {
                self.alpn = alpn
            }
        }

        private let storage: LockedValue<Values>

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

        package init(values: Values, securityProtocolOptions: sec_protocol_options_t) {
            storage = LockedValue(values)
            self.securityProtocolOptions = securityProtocolOptions
            super.init(definition: NWProtocolQUIC.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package override func copyOptions() -> NWProtocolOptions {
            Options(values: values, securityProtocolOptions: securityProtocolOptions.copy())
        }

        /// The application protocols to offer, best first.
        public var alpn: [String] {
            get { storage.withLock { $0.alpn } }
            set { storage.withLock { $0.alpn = newValue } }
        }

        /// Which ways the stream goes that the connection is. Default both.
        public var direction: NWProtocolQUIC.Options.Direction {
            get { storage.withLock { $0.direction } }
            set { storage.withLock { $0.direction = newValue } }
        }

        /// Whether the connection is the tunnel's datagram flow (RFC 9221 §5) instead of a stream. Default `false`.
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var isDatagram: Bool {
            get { storage.withLock { $0.isDatagram } }
            set { storage.withLock { $0.isDatagram = newValue } }
        }

        /// Milliseconds without a packet after which the tunnel ends (RFC 9000 §10.1).
        public var idleTimeout: Int {
            get { storage.withLock { $0.idleTimeout } }
            set { storage.withLock { $0.idleTimeout = newValue } }
        }

        /// The largest datagram to take, in bytes (RFC 9000 §18.2).
        public var maxUDPPayloadSize: Int {
            get { storage.withLock { $0.maxUDPPayloadSize } }
            set { storage.withLock { $0.maxUDPPayloadSize = newValue } }
        }

        /// Bytes that the peer may send before more are granted, on all streams together (RFC 9000 §4.1).
        public var initialMaxData: Int {
            get { storage.withLock { $0.initialMaxData } }
            set { storage.withLock { $0.initialMaxData = newValue } }
        }

        /// Bytes that the peer may send on each two-way stream that it opens (RFC 9000 §18.2).
        public var initialMaxStreamDataBidirectionalRemote: Int {
            get { storage.withLock { $0.initialMaxStreamDataBidirectionalRemote } }
            set { storage.withLock { $0.initialMaxStreamDataBidirectionalRemote = newValue } }
        }

        /// Bytes that the peer may send on each two-way stream that it did not open (RFC 9000 §18.2).
        public var initialMaxStreamDataBidirectionalLocal: Int {
            get { storage.withLock { $0.initialMaxStreamDataBidirectionalLocal } }
            set { storage.withLock { $0.initialMaxStreamDataBidirectionalLocal = newValue } }
        }

        /// Bytes that the peer may send on each one-way stream (RFC 9000 §18.2).
        public var initialMaxStreamDataUnidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamDataUnidirectional } }
            set { storage.withLock { $0.initialMaxStreamDataUnidirectional = newValue } }
        }

        /// Two-way streams that the peer may open (RFC 9000 §4.6).
        public var initialMaxStreamsBidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamsBidirectional } }
            set { storage.withLock { $0.initialMaxStreamsBidirectional = newValue } }
        }

        /// One-way streams that the peer may open (RFC 9000 §4.6).
        public var initialMaxStreamsUnidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamsUnidirectional } }
            set { storage.withLock { $0.initialMaxStreamsUnidirectional = newValue } }
        }

        /// The largest datagram frame to take, in bytes (RFC 9221 §3).
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var maxDatagramFrameSize: Int {
            get { storage.withLock { $0.maxDatagramFrameSize } }
            set { storage.withLock { $0.maxDatagramFrameSize = newValue } }
        }
    }
}
