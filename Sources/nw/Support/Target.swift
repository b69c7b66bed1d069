import ArgumentParser
import Causeway

/// Where to connect to, or what to listen on, as written on the command line.
struct Target: Sendable {
    var host: NWEndpoint.Host
    var port: NWEndpoint.Port

    var endpoint: NWEndpoint { .hostPort(host: host, port: port) }
}

extension NWEndpoint {
    /// As people write it: `example.com:80`, `[::1]:80`, `/run/a.sock`.
    var label: String {
        switch self {
        case .hostPort(let host, let port):
            if case .ipv6(let address) = host { return "[\(address.debugDescription)]:\(port.rawValue)" }
            return "\(host.debugDescription):\(port.rawValue)"
        case .unix(let path):
            return path
        default:
            return debugDescription
        }
    }
}

/// Reads a port number or the name of a service.
func parsePort(_ text: String) throws -> NWEndpoint.Port {
    guard let port = NWEndpoint.Port(text) else { throw ValidationError("'\(text)' is not a port or service name") }
    return port
}

/// TCP without Nagle's delay: this tool's programs write whole messages.
func makeTCPParameters(tls: NWProtocolTLS.Options? = nil, fastOpen: Bool = false) -> NWParameters {
    let options = NWProtocolTCP.Options()
    options.noDelay = true
    options.enableFastOpen = fastOpen
    let parameters = NWParameters(tls: tls, tcp: options)
    parameters.allowFastOpen = fastOpen
    return parameters
}

/// An address family forced on the command line.
enum AddressFamily: Sendable {
    case any
    case v4
    case v6

    func apply(to parameters: NWParameters) {
        guard self != .any else { return }
        let options = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
        options?.version = self == .v4 ? .v4 : .v6
    }
}
