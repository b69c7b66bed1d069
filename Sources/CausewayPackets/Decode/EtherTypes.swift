/// EtherTypes for the library's own decoders, filters and printers, in addition to the public constants (IEEE EtherType
/// registry).
extension EtherType {
    static var mplsMulticast: EtherType { EtherType(rawValue: 0x8848) }
    static var eapol: EtherType { EtherType(rawValue: 0x888E) }
    static var ataOverEthernet: EtherType { EtherType(rawValue: 0x88A2) }
    static var lldp: EtherType { EtherType(rawValue: 0x88CC) }
    /// Transparent Ethernet bridging: a tunnel carries Ethernet frames (RFC 1701).
    static var bridging: EtherType { EtherType(rawValue: 0x6558) }
    /// PPP in the GRE header of PPTP (RFC 2637 §4.1).
    static var ppp: EtherType { EtherType(rawValue: 0x880B) }
    static var ptp: EtherType { EtherType(rawValue: 0x88F7) }
    /// The BSD trailer encapsulation (RFC 893).
    static var trailer: EtherType { EtherType(rawValue: 0x1000) }
    /// The service VLAN tag type in equipment from before IEEE 802.1ad.
    static var vlan9100: EtherType { EtherType(rawValue: 0x9100) }
    /// Another tag type for service VLANs, which some equipment from before IEEE 802.1ad uses.
    static var vlan9200: EtherType { EtherType(rawValue: 0x9200) }

    /// The largest type field value that is a length in bytes (IEEE 802.3 §3.2.6).
    static var maximumLength: UInt16 { 1500 }
    /// The smallest type field value that is a type (IEEE 802.3 §3.2.6).
    static var minimumType: UInt16 { 0x0600 }

    /// Whether a VLAN tag follows.
    var isVLAN: Bool {
        switch self {
        case .vlan, .providerVLAN, .vlan9100, .vlan9200: true
        default: false
        }
    }
}
