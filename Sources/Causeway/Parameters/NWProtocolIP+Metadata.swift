internal import CausewaySystem

extension NWProtocolIP {
    /// The IP header fields of one datagram.
    ///
    /// Attach one to a ``NWConnection/ContentContext`` to send a datagram with its own marking, or find one on the
    /// context of a received datagram. Streams ignore it.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: the only mutable state is behind a lock.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        private struct Values: Sendable {
            var ecn: ECN
            var serviceClass: NWParameters.ServiceClass?
        }

        private let storage: LockedValue<Values>

        /// When the datagram arrived, in nanoseconds of the monotonic raw clock; 0 when it was not asked for.
        ///
        /// Ask for it with ``Options/shouldCalculateReceiveTime``.
        public let receiveTime: UInt64

        /// Makes metadata for sending: no ECN, and the service class of the connection.
        public convenience init() {
            self.init(ecn: .nonECT, serviceClass: nil, receiveTime: 0)
        }

        package init(ecn: ECN, serviceClass: NWParameters.ServiceClass?, receiveTime: UInt64) {
            storage = LockedValue(Values(ecn: ecn, serviceClass: serviceClass))
            self.receiveTime = receiveTime
            super.init(definition: NWProtocolIP.definition)
        }

        /// The ECN codepoint to send, or that was received. Default `.nonECT`.
        public var ecn: ECN {
            get { storage.withLock { $0.ecn } }
            set { storage.withLock { $0.ecn = newValue } }
        }

        /// The service class to send with, or that the received DSCP stands for. Default `.bestEffort`.
        ///
        /// Until it is set, a datagram is sent with the service class of its connection.
        public var serviceClass: NWParameters.ServiceClass {
            get { storage.withLock { $0.serviceClass ?? .bestEffort } }
            set { storage.withLock { $0.serviceClass = newValue } }
        }

        /// Sets the ECN codepoint and returns the same object.
        ///
        /// Counterpart: macOS 26, iOS 26.
        public func ecn(_ ecn: ECN) -> Self {
            self.ecn = ecn
            return self
        }

        /// Sets the service class and returns the same object.
        ///
        /// Counterpart: macOS 26, iOS 26.
        public func serviceClass(_ serviceClass: NWParameters.ServiceClass) -> Self {
            self.serviceClass = serviceClass
            return self
        }

        /// The traffic class byte to send: DSCP in the high six bits, ECN in the low two (RFC 3168 §5).
        ///
        /// - Parameter connectionClass: The class of the connection, used unless this metadata sets its own.
        package func trafficClass(connectionClass: NWParameters.ServiceClass) -> UInt8 {
            storage.withLock { ($0.serviceClass ?? connectionClass).dscp << 2 | $0.ecn.codepoint }
        }
    }
}
