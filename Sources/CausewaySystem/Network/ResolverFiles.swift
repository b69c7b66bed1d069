package import CausewayWire

/// Reads the files that configure name resolution.
package struct ResolverFiles: Sendable {
    package var configurationPath: String
    package var hostsPath: String
    package var orderPath: String
    /// The path of the file with the DNS servers that the local forwarder (systemd-resolved) uses.
    package var forwarderPath: String

    package init(
        configuration: String = "/etc/resolv.conf", hosts: String = "/etc/hosts", order: String = "/etc/nsswitch.conf",
        forwarder: String = "/run/systemd/resolve/resolv.conf"
    ) {
        configurationPath = configuration
        hostsPath = hosts
        orderPath = order
        forwarderPath = forwarder
    }

    package var paths: [String] { [configurationPath, hostsPath, orderPath, forwarderPath] }

    /// The maximum number of bytes to read from the hosts file. The limit is large, because the file may contain long
    /// block lists. The rest of a longer file is ignored.
    private static let longestHostsFile = 16 << 20

    /// Reads the hosts file. A missing file counts as empty.
    package func hosts() -> HostsFile {
        HostsFile(parsing: SmallFile.text(hostsPath, limit: Self.longestHostsFile) ?? "")
    }

    package func order() -> NameServiceOrder {
        SmallFile.text(orderPath).map { NameServiceOrder(parsing: $0) } ?? NameServiceOrder()
    }

    /// Reads resolv.conf. A link-local server address includes its interface.
    package func configuration() -> (ResolverConfiguration, servers: [InternetAddress]) {
        let configuration = ResolverConfiguration(parsing: SmallFile.text(configurationPath) ?? "")
        return (configuration, ResolverState.addresses(of: configuration))
    }

    /// Returns the servers that answer queries: the servers in resolv.conf, or the local forwarder's servers if
    /// resolv.conf names a forwarder.
    package func answeringServers() -> [InternetAddress] {
        ResolverState.current(configurationPath: configurationPath, forwarderPath: forwarderPath).servers
    }
}
