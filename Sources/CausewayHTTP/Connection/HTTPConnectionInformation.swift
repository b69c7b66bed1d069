package import Causeway
package import CausewayHTTPProtocols
internal import CausewaySystem
package import CausewayTypes

/// The connection that carries a response, as metrics and server-trust checks need it.
///
/// The values that are equal for all requests of a connection are in one shared object, so that a copy is cheap.
package struct HTTPConnectionInformation: Sendable {
    /// Whether the connection carried an earlier request.
    package var isReused = false
    /// When the connection began to send the request, on the monotonic clock; `nil` if the connection does not report it.
    package var began: Duration?
    /// The values that are equal for all requests of the connection.
    package var details: HTTPConnectionDetails

    package init(
        isReused: Bool = false, began: Duration? = nil, details: HTTPConnectionDetails = HTTPConnectionDetails()
    ) {
        self.isReused = isReused
        self.began = began
        self.details = details
    }
}

/// The properties of one connection. They do not change after the connection is established.
package final class HTTPConnectionDetails: Sendable {
    /// The start and the end of one phase of establishment, on the monotonic clock of ``HTTPClock``.
    package struct Phase: Equatable, Sendable {
        package var start: Duration
        package var end: Duration

        package init(start: Duration, end: Duration) {
            self.start = start
            self.end = end
        }
    }

    /// The name lookup.
    package struct Resolution: Equatable, Sendable {
        package var phase: Phase
        /// The protocol of the query that found the addresses.
        package var dnsProtocol: NWConnection.EstablishmentReport.Resolution.DNSProtocol
    }

    /// The parameters that TLS negotiated.
    package struct Security: Sendable {
        package var version: tls_protocol_version_t
        package var cipherSuite: tls_ciphersuite_t
        /// The chain of the server and the result of its evaluation.
        package var trust: SecTrust?

        package init(version: tls_protocol_version_t, cipherSuite: tls_ciphersuite_t, trust: SecTrust? = nil) {
            self.version = version
            self.cipherSuite = cipherSuite
            self.trust = trust
        }
    }

    /// The identifier of the connection in its pool, for ``ConnectionBinding/connection``; `nil` if it is in none.
    package let id: PoolConnectionID?
    /// The protocol by its ALPN name (RFC 7301 §6): `http/1.1` or `h2`.
    package let protocolName: String
    /// Whether the connection goes through a proxy.
    package let usesProxy: Bool
    /// Whether a proxy forwards the requests in absolute form (RFC 9112 §3.2.2), without a tunnel.
    package let isForwarded: Bool
    /// Whether the connection uses Multipath TCP.
    package let isMultipath: Bool
    package let localEndpoint: NWEndpoint?
    package let remoteEndpoint: NWEndpoint?
    /// `nil` without TLS.
    package let security: Security?
    /// `nil` if no name was resolved.
    package let resolution: Resolution?
    /// From the first attempt to connect to the end of the establishment, TLS included.
    package let connect: Phase?
    /// `nil` without TLS.
    package let secureConnect: Phase?
    /// The round-trip time of TCP, if it leads to the server without a proxy.
    package let roundTrip: Duration?
    private let makePath: @Sendable () -> NWPath?
    private let knownPath = LockedValue<NWPath??>(nil)

    package init(
        id: PoolConnectionID? = nil, protocolName: String = "http/1.1", usesProxy: Bool = false,
        isForwarded: Bool = false, isMultipath: Bool = false,
        localEndpoint: NWEndpoint? = nil, remoteEndpoint: NWEndpoint? = nil, security: Security? = nil,
        resolution: Resolution? = nil, connect: Phase? = nil, secureConnect: Phase? = nil, roundTrip: Duration? = nil,
        makePath: @escaping @Sendable () -> NWPath? = { nil }
    ) {
        self.id = id
        self.protocolName = protocolName
        self.usesProxy = usesProxy
        self.isForwarded = isForwarded
        self.isMultipath = isMultipath
        self.localEndpoint = localEndpoint
        self.remoteEndpoint = remoteEndpoint
        self.security = security
        self.resolution = resolution
        self.connect = connect
        self.secureConnect = secureConnect
        self.roundTrip = roundTrip
        self.makePath = makePath
    }

    /// The path of the connection, with its interfaces and their properties. Determined at the first use, because that asks the kernel for
    /// the state of the network.
    package var path: NWPath? {
        knownPath.withLock { known in
            if let known { return known }
            let path = makePath()
            known = .some(path)
            return path
        }
    }
}
