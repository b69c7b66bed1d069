package import Causeway
package import CausewayHTTPProtocols
internal import CausewaySystem
package import CausewayTypes

/// The connection that carried a response, with the values for metrics and server-trust checks.
///
/// One shared object contains the values that all requests on a connection have in common. So a copy is cheap.
package struct HTTPConnectionInformation: Sendable {
    /// Whether the connection carried an earlier request.
    package var isReused = false
    /// The time on the monotonic clock at which the connection began to send the request. `nil` if the connection does
    /// not report it.
    package var began: Duration?
    /// The values common to all requests on the connection.
    package var details: HTTPConnectionDetails

    package init(
        isReused: Bool = false, began: Duration? = nil, details: HTTPConnectionDetails = HTTPConnectionDetails()
    ) {
        self.isReused = isReused
        self.began = began
        self.details = details
    }
}

/// One connection's properties. They do not change after the connection is established.
package final class HTTPConnectionDetails: Sendable {
    /// The start and end of one establishment phase, on the monotonic clock of ``HTTPClock``.
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
        /// The DNS transport that found the addresses.
        package var dnsProtocol: NWConnection.EstablishmentReport.Resolution.DNSProtocol
    }

    /// The negotiated TLS parameters.
    package struct Security: Sendable {
        package var version: tls_protocol_version_t
        package var cipherSuite: tls_ciphersuite_t
        /// The server's certificate chain with its evaluation result.
        package var trust: SecTrust?

        package init(version: tls_protocol_version_t, cipherSuite: tls_ciphersuite_t, trust: SecTrust? = nil) {
            self.version = version
            self.cipherSuite = cipherSuite
            self.trust = trust
        }
    }

    /// The way in which requests reach the server.
    package enum Route: Sendable {
        case direct
        /// A proxy provides a tunnel, and the requests reach the server through this tunnel.
        case tunnel
        /// A proxy forwards the requests in absolute form (RFC 9112 §3.2.2).
        case forwarding
    }

    /// A path that is determined on first use, because determining it queries the kernel for the network state.
    private final class LazyPath: Sendable {
        private let known = LockedValue<NWPath??>(nil)
        private let make: @Sendable () -> NWPath?

        init(_ make: @escaping @Sendable () -> NWPath?) { self.make = make }

        var value: NWPath? {
            known.withLock { known in
                if let known { return known }
                let path = make()
                known = .some(path)
                return path
            }
        }
    }

    /// The connection's identifier in its pool, for ``ConnectionBinding/connection``; `nil` if the connection is in no
    /// pool.
    package let id: PoolConnectionID?
    /// The protocol by its ALPN name (RFC 7301 §6): `http/1.1` or `h2`.
    package let protocolName: String
    private let route: Route
    /// Whether the connection uses Multipath TCP.
    package let isMultipath: Bool
    package let localEndpoint: NWEndpoint?
    package let remoteEndpoint: NWEndpoint?
    /// The negotiated TLS parameters; `nil` without TLS.
    package let security: Security?
    /// The name lookup; `nil` if no name was resolved.
    package let resolution: Resolution?
    /// The phase from the start of the successful connection attempt to the end of establishment, including TLS.
    package let connect: Phase?
    /// The TLS handshake; `nil` without TLS.
    package let secureConnect: Phase?
    /// The TCP round-trip time, if the connection leads to the server without a proxy.
    package let roundTrip: Duration?
    private let lazyPath: LazyPath

    package init(
        id: PoolConnectionID? = nil, protocolName: String = "http/1.1", route: Route = .direct,
        isMultipath: Bool = false,
        localEndpoint: NWEndpoint? = nil, remoteEndpoint: NWEndpoint? = nil, security: Security? = nil,
        resolution: Resolution? = nil, connect: Phase? = nil, secureConnect: Phase? = nil, roundTrip: Duration? = nil,
        makePath: @escaping @Sendable () -> NWPath? = { nil }
    ) {
        self.id = id
        self.protocolName = protocolName
        self.route = route
        self.isMultipath = isMultipath
        self.localEndpoint = localEndpoint
        self.remoteEndpoint = remoteEndpoint
        self.security = security
        self.resolution = resolution
        self.connect = connect
        self.secureConnect = secureConnect
        self.roundTrip = roundTrip
        lazyPath = LazyPath(makePath)
    }

    /// Whether the connection goes through a proxy.
    package var usesProxy: Bool { route != .direct }
    /// Whether a proxy forwards the requests, without a tunnel.
    package var isForwarded: Bool { route == .forwarding }
    /// The connection's path, with its interfaces and their properties.
    package var path: NWPath? { lazyPath.value }
}
