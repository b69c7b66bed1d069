package import Causeway
import CausewayHTTPProtocols
package import CausewayProtocols

/// Creates an engine's transports.
protocol HTTPDialer: Sendable {
    /// Returns a transport that is not started.
    ///
    /// - Parameters:
    ///   - key: The origin, and the requirements for the connection.
    ///   - alternative: The alternative service to connect to; `nil` for the origin itself. The alternative's
    ///     certificate must be valid for the origin.
    ///   - offersHTTP2: Whether TLS offers HTTP/2 besides HTTP/1.1. A connection to an alternative offers only the
    ///     alternative's protocol.
    func makeTransport(
        to key: PoolKey, at alternative: AlternativeService?, offersHTTP2: Bool
    ) -> any HTTPTransport
}

/// Connects with `NWConnection`, whose parameters determine proxies, interfaces and TLS.
struct NetworkDialer: HTTPDialer {
    let makeParameters: @Sendable (HTTPOrigin) -> NWParameters
    var usesEarlyData = false
    /// Whether HTTP proxies forward requests without TLS. If `false`, these requests are sent through tunnels.
    var usesForwarding = true
    var connectionCreated: (@Sendable (NWConnection) -> Void)?

    func makeTransport(
        to key: PoolKey, at alternative: AlternativeService?, offersHTTP2: Bool
    ) -> any HTTPTransport {
        let origin = key.origin
        if let alternative { return makeTransport(to: origin, at: alternative) }
        let parameters = Self.offering(
            offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"], makeParameters(origin), usesEarlyData: usesEarlyData)
        parameters.forwardsRequests = usesForwarding && key.permitsForwarding
        let connection = NWConnection(to: HTTPEngine.endpoint(of: origin), using: parameters)
        connectionCreated?(connection)
        return connection
    }

    /// Returns a transport to an alternative service. The certificate of this service must be valid for the origin's
    /// name (RFC 7838 §2.1).
    private func makeTransport(to origin: HTTPOrigin, at alternative: AlternativeService) -> any HTTPTransport {
        let parameters = Self.offering([alternative.protocolName], makeParameters(origin))
        let host = alternative.host.isEmpty ? origin.host : alternative.host
        if host != origin.host {
            for case let tls as NWProtocolTLS.Options in parameters.defaultProtocolStack.applicationProtocols {
                sec_protocol_options_set_tls_server_name(tls.securityProtocolOptions, origin.host)
            }
        }
        let port = NWEndpoint.Port(rawValue: alternative.port) ?? .any
        let connection = NWConnection(host: HTTPOrigin.host(host), port: port, using: parameters)
        connectionCreated?(connection)
        return connection
    }

    /// Returns parameters whose TLS options offer only the given protocols. If the program's TLS options also list
    /// application protocols, only the protocols in both lists are offered. The program's own parameters remain
    /// unchanged, because it may use them for other connections.
    static func offering(
        _ protocols: [String], _ original: NWParameters, usesEarlyData: Bool = false
    ) -> NWParameters {
        let parameters = original.copy()
        for case let tls as NWProtocolTLS.Options in parameters.defaultProtocolStack.applicationProtocols {
            tls.securityProtocolOptions.update { values in
                let allowed = values.applicationProtocols
                values.applicationProtocols = protocols.filter { allowed.isEmpty || allowed.contains($0) }
                if usesEarlyData { values.earlyDataEnabled = true }
            }
        }
        return parameters
    }
}

extension HTTPEngine {
    /// Returns the endpoint for connections to an origin.
    package static func endpoint(of origin: HTTPOrigin) -> NWEndpoint {
        origin.endpoint
    }

    /// Returns the default parameters: TCP without Nagle's algorithm, and TLS that offers HTTP/2 and HTTP/1.1 for secure origins.
    package static func defaultParameters(for origin: HTTPOrigin) -> NWParameters {
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        guard origin.isSecure else { return NWParameters(tls: nil, tcp: tcp) }
        let tls = NWProtocolTLS.Options()
        sec_protocol_options_add_tls_application_protocol(tls.securityProtocolOptions, "h2")
        sec_protocol_options_add_tls_application_protocol(tls.securityProtocolOptions, "http/1.1")
        return NWParameters(tls: tls, tcp: tcp)
    }
}
