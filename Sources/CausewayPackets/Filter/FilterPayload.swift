/// The payload types that filters test. They are Ethernet types, or LLC service access points. The latter have smaller
/// numbers.
enum FilterPayload {
    static let xns: UInt32 = 0x0600
    static let ipv4: UInt32 = 0x0800
    static let arp: UInt32 = 0x0806
    static let mopDump: UInt32 = 0x6001
    static let mopConsole: UInt32 = 0x6002
    static let decnet: UInt32 = 0x6003
    static let lat: UInt32 = 0x6004
    static let sca: UInt32 = 0x6007
    static let reverseARP: UInt32 = 0x8035
    static let appleTalk: UInt32 = 0x809B
    static let appleTalkARP: UInt32 = 0x80F3
    static let vlan: UInt32 = 0x8100
    static let ipxEthernet: UInt32 = 0x8137
    static let ipv6: UInt32 = 0x86DD
    static let mpls: UInt32 = 0x8847
    static let pppoeDiscovery: UInt32 = 0x8863
    static let pppoeSession: UInt32 = 0x8864
    static let providerVLAN: UInt32 = 0x88A8
    static let vlan9100: UInt32 = 0x9100

    /// The largest value in an Ethernet header's type field that states a length instead of a type. Then an LLC header
    /// follows (IEEE 802.3 §3.2.6).
    static let maximumLength: UInt32 = 1500

    static let ipLLC: UInt32 = 0x06
    static let spanningTree: UInt32 = 0x42
    static let ipx: UInt32 = 0xE0
    static let netbeui: UInt32 = 0xF0
    static let iso: UInt32 = 0xFE

    /// The first two IPX bytes in an Ethernet frame without LLC: an unused checksum (Novell's "raw" 802.3).
    static let rawIPX: UInt32 = 0xFFFF
    /// The AppleTalk organization in SNAP headers.
    static let appleOrganization: UInt32 = 0x08_0007
    /// The organization for Ethernet types in SNAP headers (RFC 1042).
    static let ethernetOrganization: UInt32 = 0
}

/// Protocols in the ISO network layer (ISO 9577).
enum ISOProtocol {
    static let clnp: UInt32 = 0x81
    static let esis: UInt32 = 0x82
    static let isis: UInt32 = 0x83
}

/// IS-IS packet types for levels 1 and 2 (ISO 10589 §9).
enum ISISType {
    static let lanHello1: UInt32 = 0x0F
    static let lanHello2: UInt32 = 0x10
    static let pointHello: UInt32 = 0x11
    static let linkState1: UInt32 = 0x12
    static let linkState2: UInt32 = 0x14
    static let complete1: UInt32 = 0x18
    static let complete2: UInt32 = 0x19
    static let partial1: UInt32 = 0x1A
    static let partial2: UInt32 = 0x1B
    /// The bits that contain the packet type. All other bits of this byte are reserved.
    static let mask: UInt32 = 0x1F

    static let complete = [complete1, complete2]
    static let partial = [partial1, partial2]
    static let hellos = [pointHello, lanHello1, lanHello2]
    static let level1 = [partial1, complete1, linkState1, lanHello1, pointHello]
    static let level2 = [partial2, complete2, linkState2, lanHello2, pointHello]
}
