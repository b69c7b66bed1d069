/// The numbers of protocol families in loopback headers. Each operating system has its own number for IPv6.
enum LoopbackFamily {
    static let inet: UInt32 = 2
    static let inet6Linux: UInt32 = 10
    static let inet6OpenBSD: UInt32 = 24
    static let inet6Solaris: UInt32 = 26
    static let inet6FreeBSD: UInt32 = 28
    static let inet6Darwin: UInt32 = 30
}

/// Values in the Linux cooked header's protocol field that are not EtherTypes (the kernel's `ETH_P_` values).
enum CookedProtocol {
    static let raw8023: UInt16 = 1
    static let llc: UInt16 = 4
}

/// Packet types in the Linux cooked header (the `sll_pkttype` values in packet(7)).
enum CookedPacketType {
    static let host: UInt16 = 0
    static let broadcast: UInt16 = 1
    static let multicast: UInt16 = 2
    static let otherHost: UInt16 = 3
    static let outgoing: UInt16 = 4
}

/// LLC service access points (IEEE LLC address registry).
enum LLCAddress {
    static let ip: UInt8 = 0x06
    static let spanningTree: UInt8 = 0x42
    static let snap: UInt8 = 0xAA
    static let ipx: UInt8 = 0xE0
    static let netbeui: UInt8 = 0xF0
    static let iso: UInt8 = 0xFE
}

/// The LLC control field (IEEE 802.2 §5.2).
enum LLCControl {
    /// The bits that mark an unnumbered frame, whose control field has one byte.
    static let formatMask: UInt8 = 0x03
    static let unnumbered: UInt8 = 0x03
}

/// Organizations in SNAP headers whose type field is an EtherType (RFC 1042; IEEE 802.1H).
enum SNAPOrganization {
    static let encapsulatedEthernet: UInt32 = 0x000000
    static let bridgeTunnel: UInt32 = 0x0000F8
}

/// The version field in IP headers (IANA registry "IP Version Numbers").
enum IPVersion {
    static let ipv4: UInt8 = 4
    static let ipv6: UInt8 = 6
}

/// MPLS labels with a reserved meaning (RFC 3032 §2.1).
enum MPLSLabel {
    static let ipv4ExplicitNull: UInt32 = 0
    static let ipv6ExplicitNull: UInt32 = 2
}

/// UDP ports for tunnels (IANA registry "Service Name and Transport Protocol Port Number").
enum TunnelPort {
    static let vxlan: UInt16 = 4789
    static let geneve: UInt16 = 6081
    static let mpls: UInt16 = 6635
}
