internal import CausewaySystem

extension NWProtocolQUIC {
    /// QUIC options for a connection or listener.
    ///
    /// A numeric value of 0, the default, selects the QUIC implementation's default. The properties can be used from any thread. QUIC is
    /// not implemented: options can be created, copied and compared, but a connection or listener that uses them fails with
    /// `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    // SAFETY: the only mutable state is protected by a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// The direction of a stream (RFC 9000 §2.1).
        ///
        /// Counterpart: macOS 12, iOS 15.
        public enum Direction: Equatable, Hashable, Sendable {
            /// Both endpoints can send data on the stream.
            case bidirectional
            /// Only the peer that opened the stream sends data.
            case unidirectional
        }

        /// All option values, read together under the lock.
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

        /// The connection's TLS options, for the `sec_protocol_options_*` functions. Each access returns the same object.
        public let securityProtocolOptions: sec_protocol_options_t

        /// Creates options without an application protocol. Set ``alpn`` before use.
        public convenience init() {
            self.init(alpn: [])
        }

        /// Creates options with application protocols to offer (ALPN, RFC 7301 §3.1), in order of preference.
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

        /// The application protocols to offer (ALPN, RFC 7301 §3.1), in order of preference.
        public var alpn: [String] {
            get { storage.withLock { $0.alpn } }
            set { storage.withLock { $0.alpn = newValue } }
        }

        /// The direction of the connection's stream. Default `.bidirectional`.
        public var direction: NWProtocolQUIC.Options.Direction {
            get { storage.withLock { $0.direction } }
            set { storage.withLock { $0.direction = newValue } }
        }

        /// Whether an `NWConnection` carries the datagrams of a QUIC connection (RFC 9221 §5) instead of one of its
        /// streams. Default `false`.
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var isDatagram: Bool {
            get { storage.withLock { $0.isDatagram } }
            set { storage.withLock { $0.isDatagram = newValue } }
        }

        /// The idle timeout: milliseconds without a packet after which the connection is closed (RFC 9000 §10.1).
        public var idleTimeout: Int {
            get { storage.withLock { $0.idleTimeout } }
            set { storage.withLock { $0.idleTimeout = newValue } }
        }

        /// The maximum UDP payload size that this host accepts, in bytes (`max_udp_payload_size`, RFC 9000 §18.2).
        public var maxUDPPayloadSize: Int {
            get { storage.withLock { $0.maxUDPPayloadSize } }
            set { storage.withLock { $0.maxUDPPayloadSize = newValue } }
        }

        /// The initial limit for data from the peer on all streams together, in bytes (`initial_max_data`, RFC 9000 §4.1).
        public var initialMaxData: Int {
            get { storage.withLock { $0.initialMaxData } }
            set { storage.withLock { $0.initialMaxData = newValue } }
        }

        /// The initial data limit on each bidirectional stream that the peer opens, in bytes (`initial_max_stream_data_bidi_remote`, RFC
        /// 9000 §18.2).
        public var initialMaxStreamDataBidirectionalRemote: Int {
            get { storage.withLock { $0.initialMaxStreamDataBidirectionalRemote } }
            set { storage.withLock { $0.initialMaxStreamDataBidirectionalRemote = newValue } }
        }

        /// The initial data limit on each bidirectional stream that this host opens, in bytes (`initial_max_stream_data_bidi_local`, RFC
        /// 9000 §18.2).
        public var initialMaxStreamDataBidirectionalLocal: Int {
            get { storage.withLock { $0.initialMaxStreamDataBidirectionalLocal } }
            set { storage.withLock { $0.initialMaxStreamDataBidirectionalLocal = newValue } }
        }

        /// The initial data limit on each unidirectional stream, in bytes (`initial_max_stream_data_uni`, RFC 9000 §18.2).
        public var initialMaxStreamDataUnidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamDataUnidirectional } }
            set { storage.withLock { $0.initialMaxStreamDataUnidirectional = newValue } }
        }

        /// The initial limit for the number of bidirectional streams opened by the peer (`initial_max_streams_bidi`,
        /// RFC 9000 §4.6).
        public var initialMaxStreamsBidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamsBidirectional } }
            set { storage.withLock { $0.initialMaxStreamsBidirectional = newValue } }
        }

        /// The initial limit for the number of unidirectional streams opened by the peer (`initial_max_streams_uni`,
        /// RFC 9000 §4.6).
        public var initialMaxStreamsUnidirectional: Int {
            get { storage.withLock { $0.initialMaxStreamsUnidirectional } }
            set { storage.withLock { $0.initialMaxStreamsUnidirectional = newValue } }
        }

        /// The maximum DATAGRAM frame size that this host accepts, in bytes (`max_datagram_frame_size`, RFC 9221 §3).
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var maxDatagramFrameSize: Int {
            get { storage.withLock { $0.maxDatagramFrameSize } }
            set { storage.withLock { $0.maxDatagramFrameSize = newValue } }
        }
    }
}
