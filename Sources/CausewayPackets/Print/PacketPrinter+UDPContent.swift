/// Prints the protocols over UDP.
extension PacketPrinter {
    /// Ports by which the printer recognizes a protocol. A datagram may have such a port as its source port or as its
    /// destination port.
    private enum Port {
        static let domain: UInt16 = 53
        static let bootServer: UInt16 = 67
        static let bootClient: UInt16 = 68
        static let kerberos: UInt16 = 88
        static let ntp: UInt16 = 123
        static let snmp: UInt16 = 161
        static let snmpTrap: UInt16 = 162
        static let quic: UInt16 = 443
        static let ptpEvent: UInt16 = 319
        static let ptpGeneral: UInt16 = 320
        static let isakmp: UInt16 = 500
        static let syslog: UInt16 = 514
        static let rip: UInt16 = 520
        static let dhcp6Client: UInt16 = 546
        static let dhcp6Server: UInt16 = 547
        static let oldRadius: UInt16 = 1645
        static let oldRadiusAccounting: UInt16 = 1646
        static let radius: UInt16 = 1812
        static let radiusAccounting: UInt16 = 1813
        static let hsrp: UInt16 = 1985
        static let bfd: UInt16 = 3784
        static let radiusAuthorization: UInt16 = 3799
        static let isakmpNAT: UInt16 = 4500
        static let bfdMultihop: UInt16 = 4784
        static let sip: UInt16 = 5060
        static let multicastDomain: UInt16 = 5353
        static let linkLocalDomain: UInt16 = 5355
        static let sFlow: UInt16 = 6343
        static let bfdLag: UInt16 = 6784
    }

    /// Prints the payload of a UDP datagram. Returns whether a port number identifies the payload's protocol.
    mutating func udpContent(
        _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier
    ) throws(WireError) -> Bool {
        if options.expectsDNS {
            try dns(p, length, isStream: false, isMulticast: false)
            return true
        }
        switch ports.destination {
        case TunnelPort.vxlan: try vxlan(p, length)
        case TunnelPort.geneve: try geneve(p, length)
        case TunnelPort.mpls: try mpls(p, length)
        default:
            // Try the lower port first: if both ports belong to known services, the lower one is the well-known port.
            let (low, high) = (min(ports.source, ports.destination), max(ports.source, ports.destination))
            if try service(low, p, length, ports, carrier) { return true }
            if try service(high, p, length, ports, carrier) { return true }
            return try quicElsewhere(p, length, ports, carrier)
        }
        return true
    }

    private mutating func service(
        _ port: UInt16, _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16),
        _ carrier: Carrier
    ) throws(WireError) -> Bool {
        switch port {
        case Port.domain, Port.linkLocalDomain: try dns(p, length, isStream: false, isMulticast: false)
        case Port.multicastDomain: try dns(p, length, isStream: false, isMulticast: true)
        case Port.bootServer, Port.bootClient: try dhcp(p, length)
        case Port.kerberos: try kerberos(p)
        case Port.ntp: try ntp(p, length)
        case Port.snmp, Port.snmpTrap: try snmp(p, length)
        case Port.quic: return try quic(p, length, ports, carrier)
        case Port.ptpEvent, Port.ptpGeneral: try ptp(p, length)
        case Port.sFlow: try sFlow(p, length)
        case Port.isakmp: try isakmp(p, length, carrier)
        case Port.isakmpNAT: try encapsulatedSecurity(p, length, carrier)
        case Port.syslog: try syslog(p, length)
        case Port.rip: try rip(p, length)
        case Port.dhcp6Client, Port.dhcp6Server: try dhcp6(p, length)
        case Port.oldRadius, Port.oldRadiusAccounting, Port.radius, Port.radiusAccounting, Port.radiusAuthorization:
            try radius(p, length)
        case Port.hsrp: try hsrp(p, length)
        case Port.bfd, Port.bfdMultihop: try bfd(p, length, "Control")
        case Port.bfdLag: try bfd(p, length, "Lag")
        case Port.sip: textLines(Self.sip, p, length)
        default: return false
        }
        return true
    }

    /// The message names of SIP (RFC 3261 §7).
    private static let sip = TextProtocol(
        name: "SIP", part: "sip", status: .second,
        words: [
            "ACK", "BYE", "CANCEL", "DO", "INFO", "INVITE", "MESSAGE", "NOTIFY", "OPTIONS", "PRACK", "PUBLISH", "QAUTH",
            "REFER", "REGISTER", "SPRACK", "SUBSCRIBE", "UPDATE",
        ])
}
