internal import CausewaySystem

extension NWProtocolIP {
    /// IP header fields for one datagram.
    ///
    /// To send a datagram with its own ECN codepoint or service class, attach metadata to the datagram's
    /// ``NWConnection/ContentContext``. A received datagram's content context contains the received fields. Streams
    /// ignore the metadata. All members may be used from any thread.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    // SAFETY: a lock protects the only mutable state.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        private struct Values: Sendable {
            var ecn: ECN
            var serviceClass: NWParameters.ServiceClass?
        }

        private let storage: LockedValue<Values>

        /// The datagram's arrival time, in nanoseconds on the raw monotonic clock; 0 unless ``Options/shouldCalculateReceiveTime`` is set.
        public let receiveTime: UInt64

        /// Creates metadata for a datagram to send. It sets no ECN mark, and it uses the connection's service class.
        public convenience init() {
            self.init(ecn: .nonECT, serviceClass: nil, receiveTime: 0)
        }

        package init(ecn: ECN, serviceClass: NWParameters.ServiceClass?, receiveTime: UInt64) {
            storage = LockedValue(Values(ecn: ecn, serviceClass: serviceClass))
            self.receiveTime = receiveTime
            super.init(definition: NWProtocolIP.definition)
        }

        /// The ECN codepoint to send, or the received codepoint (default: `.nonECT`).
        public var ecn: ECN {
            get { storage.withLock { $0.ecn } }
            set { storage.withLock { $0.ecn = newValue } }
        }

        /// The service class to send, or the one for the received DSCP (default: `.bestEffort`).
        ///
        /// Until the program sets a value, a datagram uses its connection's service class.
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

        /// Returns the traffic class byte to send: DSCP in the high six bits, ECN in the low two (RFC 3168 §5).
        ///
        /// - Parameter connectionClass: The connection's service class, used unless this metadata sets one.
        package func trafficClass(connectionClass: NWParameters.ServiceClass) -> UInt8 {
            storage.withLock { ($0.serviceClass ?? connectionClass).dscp << 2 | $0.ecn.codepoint }
        }
    }
}
