import CausewayTypes
package import CausewayWire

/// What the resolver's files say.
///
/// Where a local forwarder stands between (systemd-resolved names itself in /etc/resolv.conf), its own file tells
/// which servers it forwards to. Programs ask ``configuration``'s servers; people want to see ``servers``.
package struct ResolverState: Equatable, Sendable {
    /// The file that questions follow.
    package var configuration: ResolverConfiguration
    /// The servers that answer in the end: the forwarder's, where there is one and its file can be read.
    package var servers: [InternetAddress]

    /// The addresses that systemd-resolved listens on.
    private static let forwarders: [InternetAddress] = [
        .ipv4(IPv4Address(bits: 0x7F00_0035)), .ipv4(IPv4Address(bits: 0x7F00_0036)),
    ]

    /// Reads the files. Missing ones are empty.
    package static func current(
        configurationPath: String = "/etc/resolv.conf", forwarderPath: String = "/run/systemd/resolve/resolv.conf"
    ) -> ResolverState {
        let configuration = ResolverConfiguration(parsing: SmallFile.text(configurationPath) ?? "")
        let named = addresses(of: configuration)
        guard !named.isEmpty, named.allSatisfy(forwarders.contains),
            let text = SmallFile.text(forwarderPath)
        else { return ResolverState(configuration: configuration, servers: named) }
        // A forwarder that knows no server cannot answer: an empty list is the truth then.
        return ResolverState(
            configuration: configuration, servers: addresses(of: ResolverConfiguration(parsing: text)))
    }

    static func addresses(of configuration: ResolverConfiguration) -> [InternetAddress] {
        configuration.nameServers.map { server in
            guard let zone = server.zone, let interface = interface(named: zone) else { return server.address }
            return server.address.scoped(to: interface)
        }
    }

    private static func interface(named zone: String) -> NWInterface? {
        NWInterface(name: zone) ?? Int(zone).flatMap { NWInterface(index: $0) }
    }
}
