import CausewayPackets
import Testing

/// Tests a program that imports no other module of this package.
@Suite("A program with CausewayPackets alone")
struct SingleImportTests {
    private static func datagram(_ add: (inout PacketBuilder) -> Void) -> [UInt8] {
        var packet = PacketBuilder()
        add(&packet)
        packet.add(UDPHeader(sourcePort: 4_000, destinationPort: 53))
        packet.add(payload: [1, 2, 3])
        return packet.finish()
    }

    @Test("It names IPv4 addresses")
    func ipv4() throws {
        let source: IPv4Address = try #require(IPv4Address("192.0.2.1"))
        let destination = try #require(IPv4Address("198.51.100.7"))
        let bytes = Self.datagram { $0.add(IPv4Header(source: source, destination: destination, proto: .udp)) }
        let header = try IPv4Header(ByteView(bytes.span), at: 0)
        #expect(header.source == source && header.destination == destination && header.totalLength == 31)
        let filter = try PacketFilter("src host 192.0.2.1", linkType: .ipv4)
        let isMatch = filter.matches(ByteView(bytes.span))
        #expect(isMatch)
    }

    @Test("It names IPv6 addresses")
    func ipv6() throws {
        let source: IPv6Address = try #require(IPv6Address("2001:db8::1"))
        let destination = try #require(IPv6Address("2001:db8::2"))
        let bytes = Self.datagram { $0.add(IPv6Header(source: source, destination: destination, nextHeader: .udp)) }
        let header = try IPv6Header(ByteView(bytes.span), at: 0)
        #expect(header.source == source && header.destination == destination && header.payloadLength == 11)
    }
}
