import CausewayRuntime
import CausewaySystem
import Testing

@Suite("Multicast DNS sockets: the link that processes a datagram")
struct MulticastOriginTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var peer: SocketAddress
        var interface: Int
        var isMulticast = true
        var reader: Int?
    }

    private static let ipv4 = SocketAddress.ipv4(bits: 0x0a4d_0802, port: 5353)
    private static let ipv6 = SocketAddress.ipv6(high: 0xfe80 << 48, low: 2, port: 5353, scope: 2)

    /// In all rows, the receiving socket belongs to interface 3.
    static let rows = [
        Row(testDescription: "IPv4, own interface", peer: ipv4, interface: 3, reader: 3),
        Row(testDescription: "IPv4, only copy, received by another socket", peer: ipv4, interface: 2, reader: 2),
        Row(testDescription: "IPv4, interface unknown", peer: ipv4, interface: 0, reader: 3),
        Row(testDescription: "IPv6, own interface", peer: ipv6, interface: 3, reader: 3),
        Row(
            testDescription: "IPv6, copy of a packet that another socket receives",
            peer: ipv6, interface: 2, reader: nil),
        Row(testDescription: "IPv6, interface unknown", peer: ipv6, interface: 0, reader: 3),
        Row(testDescription: "unicast over another interface", peer: ipv4, interface: 2, isMulticast: false, reader: 2),
        Row(testDescription: "IPv6 unicast", peer: ipv6, interface: 2, isMulticast: false, reader: 2),
    ]

    // RFC 6762 §14.
    @Test("Each datagram is processed once, by the link of its interface", arguments: rows)
    func reader(_ row: Row) {
        let origin = MulticastOrigin(peer: row.peer, interface: row.interface, isMulticast: row.isMulticast, link: 3)
        #expect(origin.reader == row.reader)
    }
}
