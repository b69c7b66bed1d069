public import FoundationEssentials

extension NWConnection {
    /// How a connection became ready.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct EstablishmentReport: CustomDebugStringConvertible, Sendable {
        /// Seconds from the start of the attempt that succeeded until the connection was ready.
        public let duration: TimeInterval
        /// Seconds between ``NWConnection/start(queue:)`` and the attempt that succeeded; 0 if it was the first.
        public let attemptStartedAfterInterval: TimeInterval
        /// How many attempts came before the one that succeeded.
        public let previousAttemptCount: Int
        /// Whether a proxy was used.
        public let usedProxy: Bool
        /// Whether a proxy applied, used or not.
        public let proxyConfigured: Bool
        /// The proxy that was used.
        public let proxyEndpoint: NWEndpoint?
        /// The steps of name resolution, in order.
        public let resolutions: [NWConnection.EstablishmentReport.Resolution]
        /// The handshakes, lowest protocol first.
        public let handshakes: [NWConnection.EstablishmentReport.Handshake]

        package init(
            duration: TimeInterval, attemptStartedAfterInterval: TimeInterval = 0, previousAttemptCount: Int = 0,
            resolutions: [Resolution] = [], handshakes: [Handshake] = [], proxyConfigured: Bool = false,
            proxyEndpoint: NWEndpoint? = nil
        ) {
            self.duration = duration
            self.attemptStartedAfterInterval = attemptStartedAfterInterval
            self.previousAttemptCount = previousAttemptCount
            self.usedProxy = proxyEndpoint != nil
            self.proxyConfigured = proxyConfigured || proxyEndpoint != nil
            self.proxyEndpoint = proxyEndpoint
            self.resolutions = resolutions
            self.handshakes = handshakes
        }

        /// The times, the resolutions and the handshakes in one line.
        public var debugDescription: String {
            let steps = resolutions.map { "resolved \($0.endpointCount) endpoints (\($0.source)) in \($0.duration) s" }
            let shakes = handshakes.map {
                "\($0.definition.name) handshake \($0.handshakeDuration) s, rtt \($0.handshakeRTT) s"
            }
            let attempt = "\(previousAttemptCount) previous attempts, started after \(attemptStartedAfterInterval) s"
            let proxy = proxyEndpoint.map { ["proxy \($0.debugDescription)"] } ?? []
            return (["established in \(duration) s", attempt] + proxy + steps + shakes).joined(separator: "; ")
        }
    }
}

extension NWConnection.EstablishmentReport {
    /// One step of name resolution.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Resolution: Sendable {
        /// Where an answer came from.
        public enum Source: Sendable, Equatable, Hashable {
            /// The network.
            case query
            /// A cached answer within its time to live.
            case cache
            /// A cached answer past its time to live.
            case expiredCache
        }

        /// What carried the query.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public enum DNSProtocol: Sendable, Equatable, Hashable {
            /// Not known, or no query was made.
            case unknown
            /// Datagrams in clear text.
            case udp
            /// A TCP connection in clear text.
            case tcp
            /// DNS over TLS.
            case tls
            /// DNS over HTTPS.
            case https
        }

        /// Where the answer came from.
        public let source: NWConnection.EstablishmentReport.Resolution.Source
        /// Seconds that the step took.
        public let duration: TimeInterval
        /// How many endpoints it found.
        public let endpointCount: Int
        /// The endpoint that was connected to.
        public let successfulEndpoint: NWEndpoint
        /// The endpoint that was tried first.
        public let preferredEndpoint: NWEndpoint
        /// What carried the query.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public var dnsProtocol: NWConnection.EstablishmentReport.Resolution.DNSProtocol { carrier }

        private let carrier: DNSProtocol

        package init(
            source: Source, duration: TimeInterval, endpointCount: Int, successfulEndpoint: NWEndpoint,
            preferredEndpoint: NWEndpoint, dnsProtocol: DNSProtocol = .unknown
        ) {
            self.source = source
            self.duration = duration
            self.endpointCount = endpointCount
            self.successfulEndpoint = successfulEndpoint
            self.preferredEndpoint = preferredEndpoint
            self.carrier = dnsProtocol
        }
    }

    /// The handshake of one protocol.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Handshake: Sendable {
        /// Which protocol.
        public let definition: NWProtocolDefinition
        /// Seconds that the handshake took.
        public let handshakeDuration: TimeInterval
        /// The round-trip time that the handshake measured, in seconds.
        public let handshakeRTT: TimeInterval

        package init(definition: NWProtocolDefinition, handshakeDuration: TimeInterval, handshakeRTT: TimeInterval) {
            self.definition = definition
            self.handshakeDuration = handshakeDuration
            self.handshakeRTT = handshakeRTT
        }
    }
}
