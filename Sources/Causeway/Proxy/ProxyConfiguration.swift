internal import CausewaySystem
public import FoundationEssentials

/// A proxy to connect through.
///
/// A connection uses the first proxy in its privacy context that applies to its endpoint. If that proxy fails, the
/// connection uses the next applicable proxy. It connects directly only if all applicable proxies allow this. Unix
/// domain sockets and Bonjour services never use a proxy. The proxy resolves names.
///
/// SOCKS 5 and HTTP CONNECT are supported; SOCKS 5 also carries UDP (RFC 1928 §7). MASQUE and oblivious HTTP relays are
/// not supported. If no proxy can carry a connection and a direct connection is not allowed, the connection fails with
/// `.posix(.ENOTSUP)`.
///
/// Counterpart: macOS 14, iOS 17.
public struct ProxyConfiguration: CustomDebugStringConvertible, Sendable {
    /// The proxy kind and location.
    package enum Kind: Sendable {
        case socksV5(NWEndpoint)
        case httpCONNECT(NWEndpoint, tls: NWProtocolTLS.Options?)
        case relay([RelayHop])
        case obliviousHTTP(RelayHop, resourcePath: String, gatewayKeyConfig: Data)
        /// Several proxies. Each proxy is reached through the previous proxy.
        case chain([ProxyConfiguration])
        /// Proxies selected by a script.
        case script(PACSource)
    }

    /// The user name and password for the proxy.
    package struct Credential: Equatable, Sendable, CustomDebugStringConvertible, CustomReflectable {
        package let username: String
        package let password: String

        /// A placeholder: logs never contain the name or the password.
        package var debugDescription: String { "(credential)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Stores the credential. This is a class, because ``applyCredential(username:password:)`` must also change a
    /// constant configuration and all its copies.
    private final class CredentialBox: Sendable {
        let credential = LockedValue<Credential?>(nil)
    }

    package private(set) var kind: Kind
    private var box = CredentialBox()
    /// The object that records the proxy's refusals; `nil` if no caller needs them.
    package private(set) var challenges: ProxyChallenges?
    /// Records the authentication challenges of all proxies, including proxies selected by a script; `nil` if no caller
    /// needs them.
    package private(set) var challengeTable: ProxyChallengeTable?

    /// Whether to connect directly if the proxy fails. Default `false`.
    public var allowFailover = false

    /// The domains for which to use the proxy, including their subdomains. An empty list, the default, means all hosts.
    ///
    /// An empty string in the list also means all hosts. On Linux an entry may also be an address (`192.0.2.7`), a network (`10.0.0.0/8`)
    /// or `*`, and a port may follow a domain or an address. Invalid entries make connections fail with `.posix(.EINVAL)`.
    public var matchDomains: [String] = []

    /// The domains for which not to use the proxy, in the format of ``matchDomains``, without empty strings. Default: none.
    public var excludedDomains: [String] = []
    /// Whether not to use the proxy for host names without a dot, as with the key `ExcludeSimpleHostnames` of CFNetwork.
    package var excludesSimpleHostnames = false

    /// Creates a SOCKS version 5 proxy (RFC 1928).
    public init(socksv5Proxy: NWEndpoint) {
        kind = .socksV5(socksv5Proxy)
    }

    /// Creates an HTTP proxy with the CONNECT method (RFC 9110 §9.3.6). A `URLSession` does not use CONNECT for `http`
    /// URLs: it sends the proxy requests in absolute form (RFC 9112 §3.2.2).
    ///
    /// - Parameters:
    ///   - httpCONNECTProxy: The proxy's endpoint.
    ///   - tlsOptions: The TLS options for the connection to the proxy; `nil` for no TLS.
    public init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {
        kind = .httpCONNECT(httpCONNECTProxy, tls: tlsOptions)
    }

    /// Creates a proxy with one or two MASQUE relays (RFC 9298), nearest first. Not implemented: see ``ProxyConfiguration``.
    public init(relayHops: [ProxyConfiguration.RelayHop]) {
        kind = .relay(relayHops)
    }

    /// Creates an oblivious HTTP relay (RFC 9458), for HTTP only. Not implemented: see ``ProxyConfiguration``.
    ///
    /// - Parameters:
    ///   - obliviousHTTPRelay: The relay.
    ///   - relayResourcePath: The path on the relay.
    ///   - gatewayKeyConfig: The gateway's key configuration (RFC 9458 §3).
    ///   - matchDomains: The domains for which to use the relay.
    public init(
        obliviousHTTPRelay: ProxyConfiguration.RelayHop, relayResourcePath: String, gatewayKeyConfig: Data,
        matchDomains: [String]
    ) {
        kind = .obliviousHTTP(
            obliviousHTTPRelay, resourcePath: relayResourcePath, gatewayKeyConfig: gatewayKeyConfig)
        self.matchDomains = matchDomains
    }

    /// Creates a chain of proxies, nearest first: each proxy is reached through the previous proxy. Only on Linux.
    ///
    /// The domain lists and ``allowFailover`` of the chain apply, and those of its elements are ignored. Each element
    /// keeps its own credential.
    ///
    /// - Parameter chain: SOCKS 5 and HTTP CONNECT proxies, at least one.
    public init(chain: [ProxyConfiguration]) {
        kind = .chain(chain)
    }

    /// Creates a configuration with a script that selects the proxies for each connection (proxy auto-configuration,
    /// PAC). Only on Linux.
    ///
    /// The script is fetched without a proxy when a connection first needs it, and is cached as its server allows
    /// (maximum: one hour; default: five minutes). The script runs for at most five seconds, in a separate process that
    /// can only compute and look up names. The engine is Duktape 2.7 (`libduktape.so.207`), which is loaded only to run
    /// a script.
    ///
    /// The proxies in the script's result are tried in order; `DIRECT` is a direct connection. The script receives a
    /// URL, which depends on the connection's endpoint and never contains the scheme's default port:
    /// - for a URL: this URL without credentials, and for an encrypted scheme also without path and query;
    /// - for a host and port: `https://host:port/`, because the connection is probably encrypted;
    /// - for `http` requests of a `URLSession`: `http://host:port/`.
    ///
    /// If the script cannot be fetched or fails, this counts as a failed proxy. Without ``allowFailover`` the
    /// connection then waits with the error of the fetch, or with one of these errors:
    /// - `ENOEXEC`: an error in the script;
    /// - `ETIMEDOUT`: the script ran too long, or its process ended;
    /// - `ELIBACC`: Duktape is missing;
    /// - `ENOTSUP`: the result has no usable entry.
    ///
    /// ``NWConnection/proxyFailureReason`` has details.
    ///
    /// - Parameter url: The `http` or `https` URL of the script. The configuration's credential is sent to the proxies
    ///   only if the script was fetched with `https`.
    /// - Throws: `.posix(.EPROTONOSUPPORT)` for other schemes, `.posix(.EINVAL)` for a URL without a host.
    public init(automaticConfiguration url: URL) throws(NWError) {
        kind = .script(.location(try PACLocation(url)))
    }

    /// Creates a configuration from the text of a script, like ``init(automaticConfiguration:)``. Only on Linux.
    ///
    /// - Parameter script: JavaScript in UTF-8, at most 1 MiB. With a longer script, connections wait with `EFBIG`.
    ///   Every proxy that the script selects receives the configuration's credential.
    public init(script: Data) {
        kind = .script(.text([UInt8](script)))
    }

    /// Creates a configuration with a given script, like ``init(automaticConfiguration:)``. Only on Linux.
    ///
    /// - Parameter script: JavaScript, at most 1 MiB.
    public init(script: String) {
        kind = .script(.text(Array(script.utf8)))
    }

    /// Sets the user name and password for the proxy, in this value and all its copies.
    public func applyCredential(username: String, password: String) {
        box.credential.withLock { $0 = Credential(username: username, password: password) }
    }

    /// Returns a copy of the configuration whose proxies record their authentication challenges in `table`. Several
    /// configurations can use the same table.
    package func recordingChallenges(in table: ProxyChallengeTable) -> ProxyConfiguration {
        var copy = self
        copy.challengeTable = table
        switch kind {
        case .httpCONNECT(let endpoint, let tls):
            copy.challenges = table.challenges(of: endpoint, tls == nil ? .http : .https)
        case .socksV5(let endpoint): copy.challenges = table.challenges(of: endpoint, .socks)
        case .chain(let proxies): copy.kind = .chain(proxies.map { $0.recordingChallenges(in: table) })
        case .script, .relay, .obliviousHTTP: break
        }
        return copy
    }

    /// Creates a configuration from a configuration object.
    public init(_nw: nw_proxy_config_t) {
        self = _nw.configuration
    }

    /// The configuration as an object.
    public var _nw: nw_proxy_config_t { OS_nw_proxy_config(configuration: self) }

    package var credential: Credential? { challenges?.credential ?? box.credential.withLock { $0 } }

    /// The proxy kind and location, without the credential.
    public var debugDescription: String {
        switch kind {
        case .socksV5(let endpoint): "SOCKSv5 \(endpoint.debugDescription)"
        case .httpCONNECT(let endpoint, let tls):
            "HTTP CONNECT \(endpoint.debugDescription)\(tls == nil ? "" : " over TLS")"
        case .relay(let hops): "relay \(hops.map(\.debugDescription).joined(separator: ", "))"
        case .chain(let proxies): proxies.map(\.debugDescription).joined(separator: ", then ")
        case .script(let source): "script \(source.debugDescription)"
        case .obliviousHTTP(let hop, let path, _): "oblivious HTTP \(hop.debugDescription) \(path)"
        }
    }

    /// A MASQUE relay.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public struct RelayHop: CustomDebugStringConvertible, Sendable {
        package let http3Endpoint: NWEndpoint?
        package let http2Endpoint: NWEndpoint?
        package let tlsOptions: NWProtocolTLS.Options
        package let headerFields: [String: String]

        /// Creates an HTTP/3 relay, with an optional HTTP/2 relay as fallback.
        public init(
            http3RelayEndpoint: NWEndpoint, http2RelayEndpoint: NWEndpoint? = nil,
            tlsOptions: NWProtocolTLS.Options = .init(), additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            http3Endpoint = http3RelayEndpoint
            http2Endpoint = http2RelayEndpoint
            self.tlsOptions = tlsOptions
            headerFields = additionalHTTPHeaderFields
        }

        /// Creates an HTTP/2 relay.
        public init(
            http2RelayEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options = .init(),
            additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            http3Endpoint = nil
            http2Endpoint = http2RelayEndpoint
            self.tlsOptions = tlsOptions
            headerFields = additionalHTTPHeaderFields
        }

        /// The relay's location for each HTTP version.
        public var debugDescription: String {
            let http3 = http3Endpoint.map { "h3 \($0.debugDescription)" }
            let http2 = http2Endpoint.map { "h2 \($0.debugDescription)" }
            return [http3, http2].compactMap { $0 }.joined(separator: " or ")
        }
    }
}

/// A ``ProxyConfiguration`` as an object, as in Apple's C interface.
public final class OS_nw_proxy_config: Sendable {
    fileprivate let configuration: ProxyConfiguration

    fileprivate init(configuration: ProxyConfiguration) {
        self.configuration = configuration
    }
}

/// The C name of a proxy configuration object.
///
/// Counterpart: macOS 14, iOS 17.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_proxy_config_t = OS_nw_proxy_config
