import CausewayTypes
import Testing

@testable import CausewayPackets

/// Tests filters on links whose header is a protocol family. Also tests filters for the payload of tunnels.
@Suite("Filters with address families and tunnels")
struct FilterEncapsulationTests {
    static let here = IPv4Address(bits: 0xC000_0201)
    static let there = IPv4Address(bits: 0xC000_0202)
    static let innerHere = IPv4Address(bits: 0xCB00_7101)
    static let innerThere = IPv4Address(bits: 0xCB00_7102)

    static func matches(_ expression: String, _ bytes: [UInt8], _ type: LinkType = .ethernet) throws -> Bool {
        try PacketFilter(expression, linkType: type).matches(ByteView(bytes.span))
    }

    static func segment6() -> [UInt8] {
        var packet = PacketBuilder()
        let address = IPv6Address(high: 0, low: 1)
        packet.add(IPv6Header(source: address, destination: address, nextHeader: .tcp))
        packet.add(TCPHeader(sourcePort: 50000, destinationPort: 80, flags: .syn))
        return packet.finish()
    }

    @Test("The number of the IPv6 family depends on the capturing system", arguments: [10, 24, 28, 30] as [UInt8])
    func families(family: UInt8) throws {
        let packet = Self.segment6()
        for (type, header) in [
            (LinkType.null, [family, 0, 0, 0]), (.null, [0, 0, 0, family]), (.loop, [0, 0, 0, family]),
        ] {
            for expression in ["tcp", "ip6", "port 80", "host ::1", "tcp dst port http"] {
                #expect(try Self.matches(expression, header + packet, type), "\(expression) on \(type.name)")
            }
            for expression in ["ip", "udp", "not ip6"] {
                #expect(try !Self.matches(expression, header + packet, type), "\(expression) on \(type.name)")
            }
        }
        var logged = [UInt8](repeating: 0, count: 64)
        (logged[0], logged[1]) = (61, family)
        #expect(try Self.matches("ip6", logged, .pflog))
    }

    @Test("The IPv4 family is recognized in both byte orders")
    func family4() throws {
        let packet = Array(FilterTests.tcp("10.0.0.1", "10.0.0.2", port: 80).dropFirst(14))
        for header in [[2, 0, 0, 0], [0, 0, 0, 2]] as [[UInt8]] {
            #expect(try Self.matches("tcp port 80 and host 10.0.0.2", header + packet, .null))
        }
        #expect(try !Self.matches("ip", [7, 0, 0, 0] + packet, .null))
    }

    /// Returns the payload of a UDP tunnel: a frame or a bare IP packet.
    static func tunnelled(isFrame: Bool, overIPv6: Bool = false, port: UInt16, header: [UInt8]) -> [UInt8] {
        var inner = PacketBuilder()
        if isFrame {
            inner.add(
                EthernetHeader(destination: MACAddress(bits: 0x0200_0000_0008), source: .zero, type: .ipv4))
        }
        inner.add(IPv4Header(source: innerHere, destination: innerThere, proto: .icmp))
        inner.add(.echo(type: 8, identifier: 1, sequence: 1))
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: overIPv6 ? .ipv6 : .ipv4))
        if overIPv6 {
            let address = IPv6Address(high: 0x2001_0DB8 << 32, low: 1)
            packet.add(IPv6Header(source: address, destination: address, nextHeader: .udp))
        } else {
            packet.add(IPv4Header(source: here, destination: there, proto: .udp))
        }
        packet.add(UDPHeader(sourcePort: 49152, destinationPort: port))
        packet.add(payload: header + inner.finish())
        return packet.finish()
    }

    static func geneve(optionWords: Int, isFrame: Bool, overIPv6: Bool = false) -> [UInt8] {
        let header: [UInt8] = [UInt8(optionWords), 0] + (isFrame ? [0x65, 0x58] : [0x08, 0x00]) + [0, 0, 5, 0]
        let options = [UInt8](repeating: 0x11, count: optionWords * 4)
        return tunnelled(isFrame: isFrame, overIPv6: overIPv6, port: 6081, header: header + options)
    }

    @Test(
        "Geneve's payload is found after its options, with or without a frame", arguments: [0, 2, 63], [true, false])
    func geneve(optionWords: Int, isFrame: Bool) throws {
        for overIPv6 in [false, true] {
            let packet = Self.geneve(optionWords: optionWords, isFrame: isFrame, overIPv6: overIPv6)
            for expression in [
                "geneve", "geneve 5 and icmp", "geneve and host 203.0.113.1", "geneve and ip[8] = 64",
                "geneve and icmp[icmptype] = icmp-echo", "geneve and src net 203.0.113.0/24 and not tcp",
            ] {
                #expect(try Self.matches(expression, packet), "\(expression)")
            }
            for expression in ["geneve 6", "geneve and tcp", "geneve and host 192.0.2.1", "geneve and ip6", "vxlan"] {
                #expect(try !Self.matches(expression, packet), "\(expression)")
            }
            #expect(try Self.matches("geneve and ether dst 02:00:00:00:00:08", packet) == isFrame)
            #expect(try !Self.matches("geneve and ether dst ff:ff:ff:ff:ff:ff", packet))
        }
    }

    @Test(
        "A service name that is registered for one transport matches only that one",
        arguments: [
            ("port http", true, false), ("port ntp", false, true), ("port domain", true, true),
            ("tcp port http", true, false),
            ("dst port smtp or http", true, false),
        ])
    func services(expression: String, matchesTCP: Bool, matchesUDP: Bool) throws {
        let port = PortNames.table.first { expression.hasSuffix($0.0) }?.1 ?? 0
        let segment = FilterTests.tcp("10.0.0.1", "10.0.0.2", port: port)
        var datagram = PacketBuilder()
        datagram.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        datagram.add(IPv4Header(source: Self.here, destination: Self.there, proto: .udp))
        datagram.add(UDPHeader(sourcePort: 4000, destinationPort: port))
        #expect(try Self.matches(expression, segment) == matchesTCP)
        #expect(try Self.matches(expression, datagram.finish()) == matchesUDP)
    }

    @Test("IGRP is protocol 9, not EIGRP's 88")
    func igrp() throws {
        for (number, isIGRP) in [(9, true), (88, false)] as [(UInt8, Bool)] {
            var packet = PacketBuilder()
            packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
            packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .init(rawValue: number)))
            packet.add(payload: [0x12, 0, 0, 0])
            let bytes = packet.finish()
            #expect(try Self.matches("igrp", bytes) == isIGRP)
            #expect(try Self.matches("igrp[0] = 0x12", bytes) == isIGRP)
        }
    }
}
