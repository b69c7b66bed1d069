/// The names of protocols in JSON output. They are static strings for speed: the default description of an enum case
/// looks up the name in the type's metadata each time.
extension LayerKind {
    var word: StaticString {
        switch self {
        case .none: "none"
        case .ethernet: "ethernet"
        case .linuxCooked: "linuxCooked"
        case .linuxCooked2: "linuxCooked2"
        case .loopback: "loopback"
        case .vlan: "vlan"
        case .llc: "llc"
        case .snap: "snap"
        case .mpls: "mpls"
        case .pppoe: "pppoe"
        case .ppp: "ppp"
        case .arp: "arp"
        case .ipv4: "ipv4"
        case .ipv6: "ipv6"
        case .hopByHop: "hopByHop"
        case .destinationOptions: "destinationOptions"
        case .routing: "routing"
        case .fragment: "fragment"
        case .authentication: "authentication"
        case .mobility: "mobility"
        case .icmp: "icmp"
        case .icmp6: "icmp6"
        case .igmp: "igmp"
        case .udp: "udp"
        case .tcp: "tcp"
        case .sctp: "sctp"
        case .gre: "gre"
        case .vxlan: "vxlan"
        case .geneve: "geneve"
        case .payload: "payload"
        }
    }
}

extension ChecksumStatus {
    var word: StaticString {
        switch self {
        case .notPresent: "notPresent"
        case .good: "good"
        case .bad: "bad"
        case .offloaded: "offloaded"
        case .unknown: "unknown"
        }
    }
}
