internal import CausewaySystem

extension NWProtocolQUIC {
    /// What is known about a QUIC stream and its tunnel.
    ///
    /// The QUIC engine fills it. Before that it tells nothing.
    ///
    /// Counterpart: macOS 12, iOS 15.
    // SAFETY: the only mutable state is behind a lock.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Whether packets keep an idle tunnel alive (RFC 9000 §10.1.2).
        public enum KeepAliveBehavior: Sendable {
            /// As often as the engine finds right.
            case on
            /// No.
            case off
            /// Every so many seconds.
            case seconds(Int)
        }

        /// All values at one moment.
        package struct Values: Sendable {
            package var negotiatedALPN: String?
            package var streamIdentifier: UInt64 = 0
            package var remoteIdleTimeout: Int = 0
            package var remoteMaxStreamsUnidirectional: Int = 0
            package var remoteMaxStreamsBidirectional: Int = 0
            package var usableDatagramFrameSize: Int = 0
            package var applicationError = ApplicationError(code: 0)
            package var streamApplicationErrorCode: UInt64 = 0
            package var localMaxStreamsUnidirectional: Int = 0
            package var localMaxStreamsBidirectional: Int = 0
            package var keepAlive = KeepAliveBehavior.off

            package init() {}
        }

        /// The handle that `sec_protocol_metadata_*` functions take.
        public let securityProtocolMetadata: sec_protocol_metadata_t
        private let storage: LockedValue<Values>

        package init(values: Values, securityProtocolMetadata: sec_protocol_metadata_t) {
            storage = LockedValue(values)
            self.securityProtocolMetadata = securityProtocolMetadata
            super.init(definition: NWProtocolQUIC.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package func update(_ body: @Sendable (inout Values) -> Void) { storage.withLock { body(&$0) } }

        /// The application protocol that was agreed on.
        public var negotiatedALPN: String? { values.negotiatedALPN }

        /// The number of the stream (RFC 9000 §2.1).
        public var streamIdentifier: UInt64 { values.streamIdentifier }

        /// Milliseconds without a packet after which the peer ends the tunnel (RFC 9000 §10.1).
        public var remoteIdleTimeout: Int { values.remoteIdleTimeout }

        /// One-way streams that the program may open (RFC 9000 §4.6).
        public var remoteMaxStreamsUnidirectional: Int { values.remoteMaxStreamsUnidirectional }

        /// Two-way streams that the program may open (RFC 9000 §4.6).
        public var remoteMaxStreamsBidirectional: Int { values.remoteMaxStreamsBidirectional }

        /// The largest datagram that can be sent now, in bytes; 0 for none (RFC 9221 §3).
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var usableDatagramFrameSize: Int { values.usableDatagramFrameSize }

        /// Set: why the program ends the tunnel. Read: why the peer did.
        public var applicationError: NWProtocolQUIC.ApplicationError {
            get { values.applicationError }
            set { update { $0.applicationError = newValue } }
        }

        /// Set: why the program ends the stream. Read: why the peer did (RFC 9000 §19.4).
        public var streamApplicationErrorCode: UInt64 {
            get { values.streamApplicationErrorCode }
            set { update { $0.streamApplicationErrorCode = newValue } }
        }

        /// One-way streams that the peer may open (RFC 9000 §4.6).
        public var localMaxStreamsUnidirectional: Int {
            get { values.localMaxStreamsUnidirectional }
            set { update { $0.localMaxStreamsUnidirectional = newValue } }
        }

        /// Two-way streams that the peer may open (RFC 9000 §4.6).
        public var localMaxStreamsBidirectional: Int {
            get { values.localMaxStreamsBidirectional }
            set { update { $0.localMaxStreamsBidirectional = newValue } }
        }

        /// Whether packets keep an idle tunnel alive. Default off.
        public var keepAlive: NWProtocolQUIC.Metadata.KeepAliveBehavior {
            get { values.keepAlive }
            set { update { $0.keepAlive = newValue } }
        }
    }
}
