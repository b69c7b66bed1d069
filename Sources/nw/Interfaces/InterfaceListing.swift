import Causeway
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// The JSON object of `nw interfaces`.
struct InterfaceListing: Encodable {
    struct Interface: Encodable {
        var name: String
        var index: Int
        var type: String
        var flags: [String]
        var mtu: Int?
        var hardwareAddress: String?
        /// Addresses with their prefix length, such as `192.0.2.1/24` and `fe80::1%eth0/64`.
        var addresses: [String]
    }

    struct Gateway: Encodable {
        /// The gateway's address; `nil` for a default route without a gateway, as on a point-to-point link.
        var address: String?
        var family: String
        var interface: String
        var metric: Int
    }

    var interfaces: [Interface]
    var defaultGateways: [Gateway]
    var dnsServers: [String]
    var searchDomains: [String]

    init(_ snapshot: NetworkSnapshot) {
        interfaces = snapshot.interfaces.map { Interface($0) }
        defaultGateways = snapshot.defaultRoutes.map { route in
            Gateway(
                address: route.gateway?.description, family: route.family == .ipv4 ? "ipv4" : "ipv6",
                interface: route.interface.name, metric: Int(route.priority))
        }
        dnsServers = snapshot.dnsServers.map(\.description)
        searchDomains = snapshot.searchDomains
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    func text() -> PrintableText {
        var lines: [String] = []
        for interface in interfaces {
            let facts: [String?] = [
                "\(interface.index)", interface.type, interface.flags.joined(separator: ","),
                interface.mtu.map { "mtu \($0)" }, interface.hardwareAddress,
            ]
            lines.append("\(interface.name): " + facts.compactMap(\.self).joined(separator: "  "))
            lines += interface.addresses.map { "    \($0)" }
        }
        for gateway in defaultGateways {
            let place = gateway.address ?? "on-link"
            lines.append("default \(gateway.family): \(place) on \(gateway.interface), metric \(gateway.metric)")
        }
        if defaultGateways.isEmpty { lines.append("default: none") }
        lines.append("dns: " + (dnsServers.isEmpty ? "none" : dnsServers.joined(separator: ", ")))
        if !searchDomains.isEmpty { lines.append("search: " + searchDomains.joined(separator: ", ")) }
        return PrintableText(lines: lines)
    }
}

extension InterfaceListing.Interface {
    init(_ entry: NetworkSnapshot.Interface) {
        name = entry.interface.name
        index = entry.interface.index
        type = entry.interface.type.label
        let known: [(Bool, String)] = [
            (entry.isUp, "up"), (entry.isRunning, "running"), (entry.isLoopback, "loopback"),
            (entry.isPointToPoint, "point-to-point"), (entry.supportsMulticast, "multicast"),
        ]
        flags = known.filter(\.0).map(\.1)
        mtu = entry.mtu
        hardwareAddress = entry.hardwareAddress
        addresses = entry.addresses.map { "\($0.address)/\($0.prefixLength)" }
    }
}
