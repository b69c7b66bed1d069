/// Protocol numbers for the library's own decoders, filters and printers, in addition to the public constants (IANA
/// registry "Assigned Internet Protocol Numbers").
extension IPProtocolNumber {
    static var hopByHopOptions: IPProtocolNumber { IPProtocolNumber(rawValue: 0) }
    static var ipv4: IPProtocolNumber { IPProtocolNumber(rawValue: 4) }
    static var igrp: IPProtocolNumber { IPProtocolNumber(rawValue: 9) }
    static var dccp: IPProtocolNumber { IPProtocolNumber(rawValue: 33) }
    static var ipv6: IPProtocolNumber { IPProtocolNumber(rawValue: 41) }
    static var routing: IPProtocolNumber { IPProtocolNumber(rawValue: 43) }
    static var fragment: IPProtocolNumber { IPProtocolNumber(rawValue: 44) }
    static var esp: IPProtocolNumber { IPProtocolNumber(rawValue: 50) }
    static var authentication: IPProtocolNumber { IPProtocolNumber(rawValue: 51) }
    static var noNextHeader: IPProtocolNumber { IPProtocolNumber(rawValue: 59) }
    static var destinationOptions: IPProtocolNumber { IPProtocolNumber(rawValue: 60) }
    /// A former number of the mobility header. In the IANA registry, this number belongs to CFTP.
    static var oldMobility: IPProtocolNumber { IPProtocolNumber(rawValue: 62) }
    static var eigrp: IPProtocolNumber { IPProtocolNumber(rawValue: 88) }
    static var ospf: IPProtocolNumber { IPProtocolNumber(rawValue: 89) }
    static var pim: IPProtocolNumber { IPProtocolNumber(rawValue: 103) }
    static var compressed: IPProtocolNumber { IPProtocolNumber(rawValue: 108) }
    static var vrrp: IPProtocolNumber { IPProtocolNumber(rawValue: 112) }
    static var mobility: IPProtocolNumber { IPProtocolNumber(rawValue: 135) }
    static var mpls: IPProtocolNumber { IPProtocolNumber(rawValue: 137) }
    static var ethernet: IPProtocolNumber { IPProtocolNumber(rawValue: 143) }

    /// Whether the protocol has ports. If so, the printed text for this protocol contains each address together with
    /// its port. The text for the IP header then omits the addresses.
    var hasPorts: Bool {
        switch self {
        case .tcp, .udp, .dccp, .sctp: true
        default: false
        }
    }
}
