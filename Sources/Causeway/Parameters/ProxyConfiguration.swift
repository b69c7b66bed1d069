internal import CausewaySystem
public import FoundationEssentials

/// A proxy to connect through.
///
/// A connection goes through the first proxy of its context that is meant for its endpoint, through the next one where that
/// fails, and directly only where all of them allow it. The proxy resolves names. SOCKS 5 and HTTP CONNECT exist, and SOCKS 5 carries UDP
/// as well (RFC 1928 §7); relays do not exist. A connection that has nothing but proxies that cannot carry it, and may not go directly,
/// fails with `.posix(.ENOTSUP)`. Unix-domain sockets and services of the link never go through a proxy.
///
/// Counterpart: macOS 14, iOS 17.
public struct ProxyConfiguration: CustomDebugStringConvertible, Sendable {
    /// What kind of proxy it is, and where.
    package enum Kind: Sendable {
        case socksV5(NWEndpoint)
        case httpCONNECT(NWEndpoint, tls: NWProtocolTLS.Options?)
        case relay([RelayHop])
        case obliviousHTTP(RelayHop, resourcePath: String, gatewayKeyConfig: Data)
        /// One through the other.
        case chain([ProxyConfiguration])
        /// Whichever a script names.
        case script(PACSource)
    }

    /// Whose name and password the proxy asks for.
    package struct Credential: Equatable, Sendable, CustomDebugStringConvertible, CustomReflectable {
        package let username: String
        package let password: String

        /// Neither the name nor the password, wherever it is printed.
        package var debugDescription: String { "(credential)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Copies share it, because a credential can be applied to a constant.
    private final class CredentialBox: Sendable {
        let credential = LockedValue<Credential?>(nil)
    }

    package let kind: Kind
    private var box = CredentialBox()

    /// Whether to connect directly when the proxy fails. Default `false`.
    public var allowFailover = false

    /// The domains to use the proxy for, each with everything in it. Empty, the default, means all.
    ///
    /// An empty word means every host. Here an address (`192.0.2.7`), a network (`10.0.0.0/8`) or `*` may stand as well, and a port
    /// behind a domain or an address. Something else makes connections fail with `.posix(.EINVAL)`.
    public var matchDomains: [String] = []

    /// The domains never to use the proxy for, written as in ``matchDomains``, without empty words. Default none.
    public var excludedDomains: [String] = []

    /// A SOCKS version 5 proxy (RFC 1928).
    public init(socksv5Proxy: NWEndpoint) {
        kind = .socksV5(socksv5Proxy)
    }

    /// An HTTP proxy with the CONNECT method (RFC 9110 §9.3.6).
    ///
    /// - Parameters:
    ///   - httpCONNECTProxy: Where the proxy is.
    ///   - tlsOptions: How to encrypt the way to the proxy; `nil` for clear text.
    public init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {
        kind = .httpCONNECT(httpCONNECTProxy, tls: tlsOptions)
    }

    /// One or two MASQUE relays (RFC 9298), nearest first.
    public init(relayHops: [ProxyConfiguration.RelayHop]) {
        kind = .relay(relayHops)
    }

    /// An oblivious HTTP relay (RFC 9458). It is for HTTP only.
    ///
    /// - Parameters:
    ///   - obliviousHTTPRelay: The relay.
    ///   - relayResourcePath: The path of the relay's resource.
    ///   - gatewayKeyConfig: The key configuration of the gateway (RFC 9458 §3).
    ///   - matchDomains: The domains to use the relay for.
    public init(
        obliviousHTTPRelay: ProxyConfiguration.RelayHop, relayResourcePath: String, gatewayKeyConfig: Data,
        matchDomains: [String]
    ) {
        kind = .obliviousHTTP(
            obliviousHTTPRelay, resourcePath: relayResourcePath, gatewayKeyConfig: gatewayKeyConfig)
        self.matchDomains = matchDomains
    }

    /// Several proxies, the nearest first: each is reached through the one before it. Only on Linux.
    ///
    /// Their own domains and ``allowFailover`` do not count, those of the chain do. A credential belongs to the proxy it was applied to.
    ///
    /// - Parameter chain: Proxies of SOCKS 5 and HTTP CONNECT, at least one.
    public init(chain: [ProxyConfiguration]) {
        kind = .chain(chain)
    }

    /// Whichever proxies a script names (proxy auto-configuration, PAC), asked anew for each connection. Only on Linux.
    ///
    /// The script is fetched, past all proxies, when a connection first needs it, and kept as long as its server allows: an hour at
    /// most, five minutes where it says nothing. It runs in a process of its own that can do nothing but compute and look up names, for
    /// five seconds at most. Running it takes Duktape 2.7 (`libduktape.so.207`), which is loaded when it is needed.
    ///
    /// The proxies that the script names are tried in order, and the direct way where the script says `DIRECT`. It is told the URL
    /// that is connected to, without credentials, and without path and query where it is encrypted; of a host and port,
    /// `https://host:port/`. A script that cannot be had, or fails, counts as a proxy that fails: without ``allowFailover`` the
    /// connection waits, with an error of the fetch, or `ENOEXEC` for an error in the script, `ETIMEDOUT`, `ELIBACC` without Duktape, or
    /// `ENOTSUP` for a result that names nothing usable. ``NWConnection/proxyFailureReason`` tells more.
    ///
    /// - Parameter url: Where the script is: a URL of the scheme `http` or `https`. A credential that is
    ///   applied to the configuration is given to the proxies of a script that came by `https`, and not to those of others.
    /// - Throws: `.posix(.EPROTONOSUPPORT)` for URLs of other schemes, `.posix(.EINVAL)` for what has no host.
    public init(automaticConfiguration url: URL) throws(NWError) {
        kind = .script(.location(try PACLocation(url)))
    }

    /// Whichever proxies this script names, as for ``init(automaticConfiguration:)``. Only on Linux.
    ///
    /// - Parameter script: JavaScript in UTF-8, 1 MiB at most: a longer one makes connections wait with `EFBIG`. A credential is given to
    ///   all proxies that it names.
    public init(script: Data) {
        kind = .script(.text([UInt8](script)))
    }

    /// Whichever proxies this script names, as for ``init(automaticConfiguration:)``. Only on Linux.
    ///
    /// - Parameter script: JavaScript, 1 MiB at most.
    public init(script: String) {
        kind = .script(.text(Array(script.utf8)))
    }

    /// Sets the user name and password to give to the proxy, in this value and in all copies of it.
    public func applyCredential(username: String, password: String) {
        box.credential.withLock { $0 = Credential(username: username, password: password) }
    }

    /// Unpacks the object form.
    public init(_nw: nw_proxy_config_t) {
        self = _nw.configuration
    }

    /// The object form.
    public var _nw: nw_proxy_config_t { OS_nw_proxy_config(configuration: self) }

    package var credential: Credential? { box.credential.withLock { $0 } }

    /// The kind of proxy and where it is, without the credential.
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

    /// One MASQUE relay.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public struct RelayHop: CustomDebugStringConvertible, Sendable {
        package let http3Endpoint: NWEndpoint?
        package let http2Endpoint: NWEndpoint?
        package let tlsOptions: NWProtocolTLS.Options
        package let headerFields: [String: String]

        /// A relay that speaks HTTP/3, with an HTTP/2 relay to fall back to.
        public init(
            http3RelayEndpoint: NWEndpoint, http2RelayEndpoint: NWEndpoint? = nil,
            tlsOptions: NWProtocolTLS.Options = .init(), additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            http3Endpoint = http3RelayEndpoint
            http2Endpoint = http2RelayEndpoint
            self.tlsOptions = tlsOptions
            headerFields = additionalHTTPHeaderFields
        }

        /// A relay that speaks HTTP/2 only.
        public init(
            http2RelayEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options = .init(),
            additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            http3Endpoint = nil
            http2Endpoint = http2RelayEndpoint
            self.tlsOptions = tlsOptions
            headerFields = additionalHTTPHeaderFields
        }

        /// Where the relay is, for each version of HTTP.
        public var debugDescription: String {
            let http3 = http3Endpoint.map { "h3 \($0.debugDescription)" }
            let http2 = http2Endpoint.map { "h2 \($0.debugDescription)" }
            return [http3, http2].compactMap { $0 }.joined(separator: " or ")
        }
    }
}

/// A ``ProxyConfiguration`` as an object, the form that Apple's C interface uses.
public final class OS_nw_proxy_config: Sendable {
    fileprivate let configuration: ProxyConfiguration

    fileprivate init(configuration: ProxyConfiguration) {
        self.configuration = configuration
    }
}

/// The name by which programs refer to a proxy configuration object.
///
/// Counterpart: macOS 14, iOS 17.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_proxy_config_t = OS_nw_proxy_config
