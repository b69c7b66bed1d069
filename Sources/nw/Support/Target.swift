import ArgumentParser
import Causeway

/// A host and port from the command line.
struct Target: Sendable {
    var host: NWEndpoint.Host
    var port: NWEndpoint.Port

    var endpoint: NWEndpoint { .hostPort(host: host, port: port) }
}

extension NWEndpoint {
    /// The endpoint in its usual notation: `example.com:80`, `[::1]:80`, `/run/a.sock`.
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

/// Parses a port number or a service name.
func parsePort(_ text: String) throws -> NWEndpoint.Port {
    guard let port = NWEndpoint.Port(text) else {
        throw ValidationError("'\(text)' is not a port number or service name.")
    }
    return port
}

/// Returns TCP parameters without Nagle's algorithm, because the commands write whole messages.
func makeTCPParameters(tls: NWProtocolTLS.Options? = nil, fastOpen: Bool = false) -> NWParameters {
    let options = NWProtocolTCP.Options()
    options.noDelay = true
    options.enableFastOpen = fastOpen
    let parameters = NWParameters(tls: tls, tcp: options)
    parameters.allowFastOpen = fastOpen
    return parameters
}

/// The address family selected by -4 or -6.
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
