internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayWire
internal import FoundationEssentials

/// Creates the WebSocket layer for one connection attempt.
///
/// - Parameters:
///   - isServer: Whether a listener accepted the connection.
///   - endpoint: For a client, the connection's endpoint, which determines the requested resource.
///   - isSecure: Whether TLS is below WebSocket. The default port is 443 if this is `true` or if the endpoint's URL has
///     the scheme `wss` or `https`; otherwise it is 80. The `Host` field omits the default port.
/// - Throws: `.posix(.EINVAL)` for an invalid header field in a client's request, `.posix(.ENOTSUP)` if compression is
///   required and not available.
func makeWebSocketLayer(
    _ options: NWProtocolWebSocket.Options, isServer: Bool, endpoint: NWEndpoint, isSecure: Bool = false
) throws(NWError) -> StackLayer {
    let values = options.values
    var configuration = WebSocketMachine.Configuration()
    configuration.repliesToPings = values.autoReplyPing
    configuration.maximumMessageSize = max(0, values.maximumMessageSize)
    configuration.skipsHandshake = values.skipHandshake
    configuration.compression = try values.compression?.plan(isServer: isServer)
    let role: WebSocketMachine.Role
    if isServer {
        role = .server
    } else if values.skipHandshake {
        role = .client(UpgradeRequest(authority: "localhost"))
    } else {
        role = .client(try values.upgradeRequest(to: endpoint, isSecure: isSecure))
    }
    return StackLayer(
        WebSocketStage(WebSocketMachine(role, configuration: configuration)),
        WebSocketDelegate(values, isServer: isServer))
}

extension NWProtocolWebSocket.Options.Values {
    /// Creates a client's handshake request. The key (`Sec-WebSocket-Key`) is not set.
    func upgradeRequest(to endpoint: NWEndpoint, isSecure: Bool) throws(NWError) -> UpgradeRequest {
        let (authority, target) = try endpoint.resource(isSecure: isSecure)
        let request = UpgradeRequest(
            target: target, authority: authority, subprotocols: subprotocols,
            additionalFields: additionalHeaders.map { HeaderField($0.name, $0.value) })
        // Check the fields now, so that an invalid field is reported before the transport connects. The check needs a
        // handshake key, but any value will do.
        var sample = request
        sample.key = "AAAAAAAAAAAAAAAAAAAAAA=="
        do { _ = try sample.serialized() } catch { throw .posix(.EINVAL) }
        return request
    }
}

extension NWEndpoint {
    /// Returns the `Host` value and the request target: the path with its query (RFC 6455 §3).
    fileprivate func resource(isSecure: Bool) throws(NWError) -> (authority: String, target: String) {
        let defaultPort: UInt16 = isSecure ? 443 : 80
        switch self {
        case .hostPort(let host, let port):
            let authority = UpgradeRequest.authority(host: host, port: port.rawValue, defaultPort: defaultPort)
            return (authority, "/")
        case .url(let url): return (try Self.authority(of: url, isSecure: isSecure), Self.target(of: url))
        // The `Host` field is required (RFC 9112 §3.2), but the path of a Unix socket contains no host name. Send
        // `localhost` instead.
        case .unix: return ("localhost", "/")
        case .service(let name, _, let domain, _):
            let labels = [name] + domain.split(separator: ".").map(String.init)
            return (labels.map(Self.hostLabel).joined(separator: "."), "/")
        case .opaque: throw .posix(.EINVAL)
        }
    }

    private static func authority(of url: URL, isSecure: Bool) throws(NWError) -> String {
        guard let text = url.host(percentEncoded: false), !text.isEmpty,
            let port = port(of: url)
        else { throw .posix(.EINVAL) }
        var host = NWEndpoint.Host(text)
        if case .name(let name, let interface) = host, !name.utf8.allSatisfy({ $0 < 0x80 }),
            let encoded = url.host(percentEncoded: true)
        {
            host = .name(encoded, interface)
        }
        let scheme = url.scheme?.lowercased()
        let isSecure = isSecure || scheme == "wss" || scheme == "https"
        return UpgradeRequest.authority(host: host, port: port, defaultPort: isSecure ? 443 : 80)
    }

    private static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        return (path.first == "/" ? path : "/" + path) + query
    }

    /// Converts a service name to a host name label, with `-` for each character that a label does not allow.
    private static func hostLabel(_ name: String) -> String {
        String(
            name.unicodeScalars.map { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-": Character(scalar)
                default: "-"
                }
            })
    }
}
