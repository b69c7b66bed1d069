import Causeway

/// The transport and the address that one section of the demonstration uses.
enum DemoPlace: Sendable {
    case tcp(NWEndpoint.Host)
    case udp(NWEndpoint.Host)
    case unix(String)

    var title: String {
        switch self {
        case .tcp(let host): "TCP over \(Self.family(of: host))"
        case .udp(let host): "UDP over \(Self.family(of: host))"
        case .unix: "Unix-domain socket"
        }
    }

    var isDatagram: Bool {
        if case .udp = self { true } else { false }
    }

    func makeParameters() -> NWParameters {
        isDatagram ? .udp : makeTCPParameters()
    }

    /// Parameters for a listener at this address, on a free port.
    func makeListenerParameters() -> NWParameters {
        let parameters = makeParameters()
        switch self {
        case .tcp(let host), .udp(let host): parameters.requiredLocalEndpoint = .hostPort(host: host, port: .any)
        case .unix(let path): parameters.requiredLocalEndpoint = .unix(path: path)
        }
        return parameters
    }

    /// Returns the endpoint for a client, from the listener's port.
    func endpoint(port: NWEndpoint.Port?) -> NWEndpoint {
        switch self {
        case .tcp(let host), .udp(let host): .hostPort(host: host, port: port ?? .any)
        case .unix(let path): .unix(path: path)
        }
    }

    private static func family(of host: NWEndpoint.Host) -> String {
        if case .ipv6 = host { "IPv6" } else { "IPv4" }
    }
}
