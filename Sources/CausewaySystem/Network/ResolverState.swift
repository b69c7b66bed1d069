import CausewayTypes
package import CausewayWire

/// The resolver files' content.
///
/// Programs send DNS queries to the servers in ``configuration``, which is read from /etc/resolv.conf. If this file
/// names only a local forwarder (systemd-resolved), another file lists the servers to which the forwarder sends
/// queries. If that file can be read, ``servers`` contains its servers. ``servers`` is only for display.
package struct ResolverState: Equatable, Sendable {
    /// The configuration for DNS queries.
    package var configuration: ResolverConfiguration
    /// The DNS servers that answer this host's queries. If the host uses a local forwarder whose file can be read,
    /// these are the servers in that file.
    package var servers: [InternetAddress]

    /// The addresses on which systemd-resolved listens.
    private static let forwarders: [InternetAddress] = [
        .ipv4(IPv4Address(bits: 0x7F00_0035)), .ipv4(IPv4Address(bits: 0x7F00_0036)),
    ]

    /// Reads resolv.conf. If it names only the local forwarder, also reads the forwarder's file.
    ///
    /// A missing resolv.conf counts as empty. If the forwarder's file is missing, ``servers`` contains the addresses in
    /// resolv.conf.
    package static func current(
        configurationPath: String = "/etc/resolv.conf", forwarderPath: String = "/run/systemd/resolve/resolv.conf"
    ) -> ResolverState {
        let configuration = ResolverConfiguration(parsing: SmallFile.text(configurationPath) ?? "")
        let named = addresses(of: configuration)
        guard !named.isEmpty, named.allSatisfy(forwarders.contains),
            let text = SmallFile.text(forwarderPath)
        else { return ResolverState(configuration: configuration, servers: named) }
        // An empty `servers` list means that the forwarder has no servers and cannot answer queries.
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
        NWInterface(name: zone) ?? Int(digits: zone).flatMap { NWInterface(index: $0) }
    }
}
