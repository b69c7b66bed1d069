/// Names that a filter expression may use instead of numbers.
enum FilterNames {
    static let constants: [String: UInt32] = [
        "icmptype": 0, "icmpcode": 1, "icmp6type": 0, "icmp6code": 1, "tcpflags": 13,
        "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-sourcequench": 4, "icmp-redirect": 5, "icmp-echo": 8,
        "icmp-routeradvert": 9, "icmp-routeradver": 9, "icmp-routersolicit": 10, "icmp-timxceed": 11,
        "icmp-timxceeded": 11,
        "icmp-paramprob": 12, "icmp-tstamp": 13, "icmp-tstampreply": 14, "icmp-ireq": 15, "icmp-ireqreply": 16,
        "icmp-maskreq": 17, "icmp-maskreply": 18,
        "icmp6-destinationrunreach": 1, "icmp6-destinationunreach": 1, "icmp6-packettoobig": 2,
        "icmp6-timeexceeded": 3, "icmp6-parameterproblem": 4, "icmp6-echo": 128, "icmp6-echoreply": 129,
        "icmp6-multicastlistenerquery": 130, "icmp6-multicastlistenerreportv1": 131,
        "icmp6-multicastlistenerdone": 132, "icmp6-routersolicit": 133, "icmp6-routeradvert": 134,
        "icmp6-neighborsolicit": 135, "icmp6-neighboradvert": 136, "icmp6-redirect": 137,
        "icmp6-routerrenum": 138, "icmp6-nodeinformationquery": 139, "icmp6-nodeinformationresponse": 140,
        "icmp6-ineighbordiscoverysolicit": 141, "icmp6-ineighbordiscoveryadvert": 142,
        "icmp6-multicastlistenerreportv2": 143, "icmp6-homeagentdiscoveryrequest": 144,
        "icmp6-homeagentdiscoveryreply": 145, "icmp6-mobileprefixsolicit": 146, "icmp6-mobileprefixadvert": 147,
        "icmp6-certpathsolicit": 148, "icmp6-certpathadvert": 149, "icmp6-multicastrouteradvert": 151,
        "icmp6-multicastroutersolicit": 152, "icmp6-multicastrouterterm": 153,
        "tcp-fin": 1, "tcp-syn": 2, "tcp-rst": 4, "tcp-push": 8, "tcp-ack": 16, "tcp-urg": 32, "tcp-ece": 64,
        "tcp-cwr": 128,
    ]

    static let ipProtocols: [String: UInt32] = [
        "ip": 0, "hopopt": 0, "icmp": 1, "igmp": 2, "ggp": 3, "ipencap": 4, "st": 5, "tcp": 6, "egp": 8, "igp": 9,
        "pup": 12, "udp": 17, "hmp": 20, "xns-idp": 22, "rdp": 27, "iso-tp4": 29, "dccp": 33, "xtp": 36, "ddp": 37,
        "idpr-cmtp": 38, "ipv6": 41, "ipv6-route": 43, "ipv6-frag": 44, "idrp": 45, "rsvp": 46, "gre": 47,
        "esp": 50, "ipsec-esp": 50, "ah": 51, "ipsec-ah": 51, "skip": 57, "ipv6-icmp": 58, "icmp6": 58,
        "ipv6-nonxt": 59, "ipv6-opts": 60, "rspf": 73, "vmtp": 81, "eigrp": 88, "ospf": 89, "ax.25": 93, "ipip": 94,
        "etherip": 97, "encap": 98, "pim": 103, "ipcomp": 108, "vrrp": 112, "l2tp": 115, "isis": 124, "sctp": 132,
        "fc": 133, "mobility-header": 135, "udplite": 136, "mpls-in-ip": 137, "manet": 138, "hip": 139,
        "shim6": 140, "wesp": 141, "rohc": 142,
    ]

    static let etherTypes: [String: UInt32] = [
        "pup": 0x200, "ip": 0x800, "ip6": 0x86DD, "arp": 0x806, "rarp": 0x8035, "aarp": 0x80F3, "atalk": 0x809B,
        "decnet": 0x6003, "lat": 0x6004, "sca": 0x6007, "moprc": 0x6002, "mopdl": 0x6001, "loopback": 0x9000,
        "slow": 0x8809, "iso": 0xFE, "stp": 0x42, "ipx": 0xE0, "netbeui": 0xF0,
    ]

    static let isoProtocols: [String: UInt32] = ["clnp": 0x81, "esis": 0x82, "isis": 0x83]

    /// The port number for each service name. Filters and scan reports use this table.
    static let services: [String: UInt32] = Dictionary(
        PortNames.table.map { ($0.0, UInt32($0.1)) }, uniquingKeysWith: { first, _ in first })
}
