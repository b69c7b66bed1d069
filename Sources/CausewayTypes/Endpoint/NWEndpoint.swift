public import FoundationEssentials

/// An endpoint to connect to or to listen on.
///
/// Counterpart: macOS 10.14, iOS 12.
public enum NWEndpoint: Hashable, CustomDebugStringConvertible, Sendable {
    /// A host, by name or address, and a port.
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
    /// An instance of a Bonjour service (RFC 6763 §4.1), such as `Lab Printer`, `_ipp._tcp`, `local.`.
    case service(name: String, type: String, domain: String, interface: NWInterface?)
    /// A Unix domain stream socket with the given path.
    case unix(path: String)
    /// The host and port of a URL. If the URL has no port, its scheme determines the port. Other parts of the URL are ignored.
    case url(_: URL)
    /// An endpoint that no other case can represent. Such an endpoint is never created, because the library has no C interface.
    case opaque(_: nw_endpoint_t)

    /// The scope interface, if any.
    public var interface: NWInterface? {
        switch self {
        case .hostPort(let host, _): host.interface
        case .service(_, _, _, let interface): interface
        case .unix, .url, .opaque: nil
        }
    }

    /// The endpoint's TXT record. Always `nil`: a browsed service's TXT record is in the browse result's metadata.
    public var txtRecord: NWTXTRecord? { nil }

    /// The endpoint as Apple's tools print it. A host and a port are printed as `host:port`, but as `address.port` for
    /// IPv6, because IPv6 addresses contain colons.
    public var debugDescription: String {
        switch self {
        case .hostPort(let host, let port):
            if case .ipv6 = host { return "\(host.debugDescription).\(port.rawValue)" }
            return "\(host.debugDescription):\(port.rawValue)"
        case .service(let name, let type, let domain, let interface):
            let service = "\(name).\(type)\(domain)"
            guard let interface else { return service }
            return "\(service)%\(interface.name)"
        case .unix(let path):
            return path
        case .url(let url):
            return url.absoluteString
        case .opaque(let endpoint):
            return endpoint.debugDescription
        }
    }
}
