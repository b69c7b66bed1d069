public import FoundationEssentials

extension NWConnection {
    /// Describes how a connection was established.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct EstablishmentReport: CustomDebugStringConvertible, Sendable {
        /// Seconds from the start of the successful attempt until the connection was ready.
        public let duration: TimeInterval
        /// Seconds between ``NWConnection/start(queue:)`` and the successful attempt; 0 if the first attempt was successful.
        public let attemptStartedAfterInterval: TimeInterval
        /// The number of attempts that failed before one succeeded.
        public let previousAttemptCount: Int
        /// Whether the connection uses a proxy.
        public let usedProxy: Bool
        /// Whether a proxy was configured, even if it was not used.
        public let proxyConfigured: Bool
        /// The proxy in use; `nil` for a direct connection.
        public let proxyEndpoint: NWEndpoint?
        /// The name resolution steps, in order.
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

        /// A one-line text with the times, the resolution steps and the handshakes.
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
    /// One name resolution step.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Resolution: Sendable {
        /// The source of an answer.
        public enum Source: Sendable, Equatable, Hashable {
            /// A query on the network.
            case query
            /// A cached answer whose TTL has not expired.
            case cache
            /// A cached answer after its TTL.
            case expiredCache
        }

        /// The transport of a DNS query.
        ///
        /// Counterpart: macOS 11, iOS 14.
        public enum DNSProtocol: Sendable, Equatable, Hashable {
            /// The protocol is unknown because no DNS query was made. For example, the answer was cached.
            case unknown
            /// Unencrypted UDP.
            case udp
            /// Unencrypted TCP.
            case tcp
            /// DNS over TLS.
            case tls
            /// DNS over HTTPS.
            case https
        }

        /// The source of the answer.
        public let source: NWConnection.EstablishmentReport.Resolution.Source
        /// The duration of the step, in seconds.
        public let duration: TimeInterval
        /// The number of endpoints that the step found.
        public let endpointCount: Int
        /// The endpoint of the successful attempt.
        public let successfulEndpoint: NWEndpoint
        /// The endpoint that was tried before all others.
        public let preferredEndpoint: NWEndpoint
        /// The transport protocol that carried the DNS query.
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
        /// The protocol of the handshake.
        public let definition: NWProtocolDefinition
        /// The duration of the handshake, in seconds.
        public let handshakeDuration: TimeInterval
        /// The round-trip time in seconds. For TCP, the kernel has measured it. For other protocols, it equals
        /// ``handshakeDuration``.
        public let handshakeRTT: TimeInterval

        package init(definition: NWProtocolDefinition, handshakeDuration: TimeInterval, handshakeRTT: TimeInterval) {
            self.definition = definition
            self.handshakeDuration = handshakeDuration
            self.handshakeRTT = handshakeRTT
        }
    }
}
