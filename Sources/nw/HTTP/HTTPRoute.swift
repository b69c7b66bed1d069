import ArgumentParser
import Causeway
import CausewayHTTP
import CausewayProtocols
import CausewayRuntime
import CausewayTypes
import Dispatch
import FoundationEssentials
import Synchronization

/// A `--resolve` entry: the address to use for a host and a port.
struct FixedAddress: Equatable, Sendable, ExpressibleByArgument {
    var host: String
    var port: UInt16
    var address: String

    /// Parses `HOST:PORT:ADDRESS`. An IPv6 address may have brackets.
    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let port = UInt16(digits: parts[1]), port > 0, !parts[0].isEmpty else { return nil }
        var address = parts[2]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard IPv4Address(String(address)) != nil || IPv6Address(String(address)) != nil else { return nil }
        host = parts[0].lowercased()
        self.port = port
        self.address = String(address)
    }

    /// The address as the host of a URL, with brackets around an IPv6 address.
    var urlHost: String { address.contains(":") ? "[\(address)]" : address }
}

/// How `nw http` connects.
struct HTTPRoute: Sendable {
    var addressFamily = AddressFamily.any
    var proxies: [String] = []
    var fixedAddresses: [FixedAddress] = []
    var connectTimeout: Duration?
    /// The ALPN protocols that TLS offers.
    var applicationProtocols: [String] = []
    var usesPriorKnowledge = false
    var skipsVerification = false
    /// The trusted certificate authorities; `nil` for the system's authorities.
    var anchors: [SecCertificate]?
    var identity: SecIdentity?

    /// Returns the origin to connect to instead of `origin`.
    func destination(of origin: HTTPOrigin) -> HTTPOrigin {
        let fixed = fixedAddresses.first { $0.host == origin.host && $0.port == origin.port }
        guard let fixed else { return origin }
        return HTTPOrigin(isSecure: origin.isSecure, host: fixed.urlHost, port: origin.port)
    }

    /// Returns the parameters for connections to an origin.
    func parameters(for origin: HTTPOrigin, _ log: HTTPConnectionLog) throws -> NWParameters {
        var tls: NWProtocolTLS.Options?
        if origin.isSecure { tls = security(for: origin, log.verdict) }
        let parameters = makeTCPParameters(tls: tls)
        addressFamily.apply(to: parameters)
        try ProxyChoice(proxies, scheme: origin.isSecure ? "https" : "http")
            .apply(to: parameters, recordingIn: log.proxies)
        return parameters
    }

    private func security(for origin: HTTPOrigin, _ verdict: CatVerdict) -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        for name in applicationProtocols { sec_protocol_options_add_tls_application_protocol(security, name) }
        if let identity, let local = sec_identity_create(identity) {
            sec_protocol_options_set_local_identity(security, local)
        }
        // A connection to a fixed address must still verify the URL's host name.
        if destination(of: origin) != origin { sec_protocol_options_set_tls_server_name(security, origin.host) }
        if skipsVerification {
            sec_protocol_options_set_peer_authentication_required(security, false)
        } else {
            verdict.evaluate(by: anchors, security)
        }
        return options
    }
}

/// The connections made by a run of `nw http`.
final class HTTPConnectionLog: Sendable {
    private struct State {
        var latest: NWConnection?
        var count = 0
        var unfinished: EstablishmentFacts?
    }

    /// The evaluation result for the certificates of the latest server.
    let verdict = CatVerdict()
    /// The challenges of proxies that demand a credential.
    let proxies = ProxyChallengeTable()
    private let state = Mutex(State())

    func add(_ connection: NWConnection) {
        state.withLock { state in
            state.latest = connection
            state.count += 1
            state.unfinished = nil
        }
    }

    /// The number of connections that the request has used so far.
    var count: Int { state.withLock { $0.count } }
    var latest: NWConnection? { state.withLock { $0.latest } }
    /// How far the latest connection had come when the connect timeout cancelled it. `nil` if the timeout has not
    /// cancelled this connection.
    var unfinished: EstablishmentFacts? { state.withLock { $0.unfinished } }

    /// Saves how far the latest connection attempt has come. Then calls `body`, which cancels the connection.
    func giveUp(_ body: @escaping @Sendable () -> Void) {
        guard let connection = latest else { return body() }
        connection.driver.reportProgress { facts in
            self.state.withLock { $0.unfinished = facts }
            body()
        }
    }
}
