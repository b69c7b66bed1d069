internal import CausewayRuntime
package import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
package import FoundationEssentials

extension NWEndpoint {
    /// The address family of an IP address or Unix domain socket; `nil` for all other endpoints.
    var family: SocketAddress.Family? {
        switch self {
        case .hostPort(.ipv4, _): .ipv4
        case .hostPort(.ipv6, _): .ipv6
        case .unix: .unix
        case .hostPort(.name, _), .service, .url, .opaque: nil
        }
    }

    package init(_ address: SocketAddress) {
        switch address {
        case .ipv4(let bits, let port):
            self = .hostPort(host: .ipv4(IPv4Address(bits: bits)), port: Port(port))
        case .ipv6(let high, let low, let port, let scope):
            let interface = scope == 0 ? nil : NWInterface(index: Int(scope))
            self = .hostPort(host: .ipv6(IPv6Address(high: high, low: low, interface: interface)), port: Port(port))
        case .unix(let path):
            self = .unix(path: path)
        }
    }

    init(_ address: InternetAddress) {
        switch address {
        case .ipv4(let address): self = .hostPort(host: .ipv4(address), port: .any)
        case .ipv6(let address): self = .hostPort(host: .ipv6(address), port: .any)
        }
    }
}

extension NWEndpoint.Port {
    fileprivate init(_ number: UInt16) { self = NWEndpoint.Port(rawValue: number) ?? .any }
}

extension ConnectionDriver.Origin {
    /// Returns the destination for connecting to an endpoint: addresses, a name or a service.
    ///
    /// - Throws: `EINVAL` for an endpoint without a usable address, `kDNSServiceErr_BadParam` for a service with an invalid name, type or
    ///   domain.
    static func connecting(to endpoint: NWEndpoint) throws(NWError) -> Self {
        switch endpoint {
        case .hostPort(let host, let port): return .connect(target(host, port.rawValue))
        case .unix(let path):
            // The path must have fewer than 108 bytes: `sun_path` holds 108 bytes, including the zero byte at the end
            // (unix(7)).
            guard !path.isEmpty, path.utf8.count < 108 else { throw .posix(.EINVAL) }
            return .connect(.addresses([.unix(path: path)]))
        case .url(let url):
            guard let host = url.host(percentEncoded: false), !host.isEmpty, let port = NWEndpoint.port(of: url) else {
                throw .posix(.EINVAL)
            }
            return .connect(target(NWEndpoint.Host(host), port))
        case .service(let name, let type, let domain, let interface):
            return .connect(.service(try NWEndpoint.instance(name, type, domain), interface: interface))
        case .opaque: throw .posix(.EINVAL)
        }
    }

    private static func target(_ host: NWEndpoint.Host, _ port: UInt16) -> Connector.Target {
        switch host {
        case .ipv4(let address): .addresses([SocketAddress(address, port: port)])
        case .ipv6(let address): .addresses([SocketAddress(address, port: port)])
        case .name(let name, let interface): .name(name, port: port, interface: interface)
        }
    }
}

extension NWEndpoint {
    /// Returns the DNS name of a service instance (RFC 6763 §4.1).
    ///
    /// - Throws: `kDNSServiceErr_BadParam` for an invalid type or domain, and for a name that is too long.
    static func instance(_ name: String, _ type: String, _ domain: String) throws(NWError) -> DNSName {
        let (parsed, place) = try serviceDomain(type, domain)
        guard let parent = parsed.name.appending(place), let instance = DNSName(name, in: parent) else {
            throw .dns(-65_540)
        }
        return instance
    }

    /// Parses a service type and a domain. The default domain is `local`.
    ///
    /// - Throws: `kDNSServiceErr_BadParam` for an invalid type or domain.
    static func serviceDomain(
        _ type: String, _ domain: String?
    ) throws(NWError) -> (type: DNSServiceType, domain: DNSName) {
        guard let parsed = try? DNSServiceType(browsing: type) else { throw .dns(-65_540) }
        guard let domain, !domain.isEmpty else { return (parsed, .local) }
        guard let place = DNSName(domain), !place.isRoot else { throw .dns(-65_540) }
        return (parsed, place)
    }
}

extension NWEndpoint {
    /// Returns a URL's port, or its scheme's default port; `nil` if there is neither.
    package static func port(of url: URL) -> UInt16? {
        if let port = url.port { return UInt16(exactly: port) }
        switch url.scheme?.lowercased() {
        case "http", "ws": return 80
        case "https", "wss": return 443
        case let scheme?: return NWEndpoint.Port(scheme)?.rawValue
        case nil: return nil
        }
    }
}
