package import CausewayWire

/// The files that say how names are looked up, and what they say now.
package struct ResolverFiles: Sendable {
    package var configurationPath: String
    package var hostsPath: String
    package var orderPath: String

    package init(
        configuration: String = "/etc/resolv.conf", hosts: String = "/etc/hosts", order: String = "/etc/nsswitch.conf"
    ) {
        configurationPath = configuration
        hostsPath = hosts
        orderPath = order
    }

    package var paths: [String] { [configurationPath, hostsPath, orderPath] }

    /// Lists of names to refuse can be long; what lies behind this is passed over.
    private static let longestHostsFile = 16 << 20

    /// Reads what the hosts file says. A missing file is empty.
    package func hosts() -> HostsFile {
        HostsFile(parsing: SmallFile.text(hostsPath, limit: Self.longestHostsFile) ?? "")
    }

    package func order() -> NameServiceOrder {
        SmallFile.text(orderPath).map { NameServiceOrder(parsing: $0) } ?? NameServiceOrder()
    }

    /// What resolv.conf says, with the addresses of its servers; link-local ones carry their interface.
    package func configuration() -> (ResolverConfiguration, servers: [InternetAddress]) {
        let configuration = ResolverConfiguration(parsing: SmallFile.text(configurationPath) ?? "")
        return (configuration, ResolverState.addresses(of: configuration))
    }
}
