internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayWire
internal import FoundationEssentials

/// Makes the layer of WebSocket, for one attempt to establish a connection.
///
/// - Parameters:
///   - isServer: Whether the connection was accepted by a listener.
///   - endpoint: Of a client, what it connects to: it names the resource.
///   - isSecure: Whether TLS stands beneath; it decides which port a request need not name. A scheme `wss` says so too.
/// - Throws: `.posix(.EINVAL)` if a client's request cannot be written, because of a header field for one.
func makeWebSocketLayer(
    _ options: NWProtocolWebSocket.Options, isServer: Bool, endpoint: NWEndpoint, isSecure: Bool = false
) throws(NWError) -> StackLayer {
    let values = options.values
    var configuration = WebSocketMachine.Configuration()
    configuration.repliesToPings = values.autoReplyPing
    configuration.maximumMessageSize = max(0, values.maximumMessageSize)
    configuration.skipsHandshake = values.skipHandshake
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
    /// The request of a client, without its key.
    func upgradeRequest(to endpoint: NWEndpoint, isSecure: Bool) throws(NWError) -> UpgradeRequest {
        let (authority, target) = try endpoint.resource(isSecure: isSecure)
        let request = UpgradeRequest(
            target: target, authority: authority, subprotocols: subprotocols,
            additionalFields: additionalHeaders.map { HeaderField($0.name, $0.value) })
        // Found now rather than after the transport was established. Any key will do.
        var sample = request
        sample.key = "AAAAAAAAAAAAAAAAAAAAAA=="
        do { _ = try sample.serialized() } catch { throw .posix(.EINVAL) }
        return request
    }
}

extension NWEndpoint {
    /// What a request to the endpoint names: the `Host` field, and the path with its query (RFC 6455 §3).
    fileprivate func resource(isSecure: Bool) throws(NWError) -> (authority: String, target: String) {
        let defaultPort: UInt16 = isSecure ? 443 : 80
        switch self {
        case .hostPort(let host, let port):
            let authority = UpgradeRequest.authority(host: host, port: port.rawValue, defaultPort: defaultPort)
            return (authority, "/")
        case .url(let url): return (try Self.authority(of: url, isSecure: isSecure), Self.target(of: url))
        // A path in the file system is no host, and a host there must be (RFC 9112 §3.2).
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

    /// A service's name as a label of a host's name, as devices form theirs.
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
