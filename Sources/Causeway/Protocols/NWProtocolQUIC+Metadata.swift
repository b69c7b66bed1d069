internal import CausewaySystem

extension NWProtocolQUIC {
    /// The state of a QUIC stream and its connection, which Apple calls the tunnel.
    ///
    /// QUIC is not implemented: no connection returns this metadata. Its properties can be used from any thread.
    ///
    /// Counterpart: macOS 12, iOS 15.
    // SAFETY: the only mutable state is protected by a lock.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Whether to send keepalive packets on an idle QUIC connection (RFC 9000 §10.1.2).
        ///
        /// Counterpart: macOS 12, iOS 15.
        public enum KeepAliveBehavior: Sendable {
            /// Sends keepalive packets at the implementation's default interval.
            case on
            /// Sends no keepalive packets.
            case off
            /// Sends keepalive packets at this interval, in seconds.
            case seconds(Int)
        }

        /// All property values, read together under the lock.
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

        /// The connection's TLS metadata, for the `sec_protocol_metadata_*` functions.
        public let securityProtocolMetadata: sec_protocol_metadata_t
        private let storage: LockedValue<Values>

        package init(values: Values, securityProtocolMetadata: sec_protocol_metadata_t) {
            storage = LockedValue(values)
            self.securityProtocolMetadata = securityProtocolMetadata
            super.init(definition: NWProtocolQUIC.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package func update(_ body: @Sendable (inout Values) -> Void) { storage.withLock { body(&$0) } }

        /// The application protocol that the TLS handshake selected (ALPN, RFC 7301); `nil` if none.
        public var negotiatedALPN: String? { values.negotiatedALPN }

        /// The stream ID (RFC 9000 §2.1).
        public var streamIdentifier: UInt64 { values.streamIdentifier }

        /// The peer's idle timeout: milliseconds without a packet after which the peer closes the connection (RFC 9000 §10.1).
        public var remoteIdleTimeout: Int { values.remoteIdleTimeout }

        /// The maximum number of unidirectional streams that this host may open (RFC 9000 §4.6).
        public var remoteMaxStreamsUnidirectional: Int { values.remoteMaxStreamsUnidirectional }

        /// The maximum number of bidirectional streams that this host may open (RFC 9000 §4.6).
        public var remoteMaxStreamsBidirectional: Int { values.remoteMaxStreamsBidirectional }

        /// The size of the largest datagram that can be sent now, in bytes; 0 if the peer accepts no datagrams (RFC 9221 §3).
        ///
        /// Counterpart: macOS 13, iOS 16.
        public var usableDatagramFrameSize: Int { values.usableDatagramFrameSize }

        /// The connection's closing error (RFC 9000 §20.2). A program sets its own error before it closes the
        /// connection; after the peer has closed the connection, the value is the peer's error.
        public var applicationError: NWProtocolQUIC.ApplicationError {
            get { values.applicationError }
            set { update { $0.applicationError = newValue } }
        }

        /// The error code that ends the stream (RFC 9000 §19.4). A program sets its own code before it cancels the
        /// stream. If the peer resets the stream, the value becomes the peer's code.
        public var streamApplicationErrorCode: UInt64 {
            get { values.streamApplicationErrorCode }
            set { update { $0.streamApplicationErrorCode = newValue } }
        }

        /// The maximum number of unidirectional streams that the peer may open (RFC 9000 §4.6).
        public var localMaxStreamsUnidirectional: Int {
            get { values.localMaxStreamsUnidirectional }
            set { update { $0.localMaxStreamsUnidirectional = newValue } }
        }

        /// The maximum number of bidirectional streams that the peer may open (RFC 9000 §4.6).
        public var localMaxStreamsBidirectional: Int {
            get { values.localMaxStreamsBidirectional }
            set { update { $0.localMaxStreamsBidirectional = newValue } }
        }

        /// Whether to send keepalive packets on an idle connection. Default `.off`.
        public var keepAlive: NWProtocolQUIC.Metadata.KeepAliveBehavior {
            get { values.keepAlive }
            set { update { $0.keepAlive = newValue } }
        }
    }
}
