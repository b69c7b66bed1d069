import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: unicast messages for several processes of a host")
struct ForwardedMessageTests {
    private static let query = DNSMessage.query(DNSQuestion(Printer.instance, .srv)).encoded()

    private static let peers: [MulticastPeer] = [
        MulticastPeer(.ipv4(IPv4Address("10.0.0.7")!), port: 5_353),
        MulticastPeer(.ipv6(IPv6Address(high: 0xFE80 << 48, low: 7)), port: 40_000),
    ]

    private static func forwarded(_ bytes: [UInt8], from peer: MulticastPeer, origin: UInt64 = 1) -> ForwardedMessage? {
        ForwardedMessage(bytes.span, from: peer, origin: origin)
    }

    private static func parsed(_ bytes: [UInt8]) -> ForwardedMessage? { ForwardedMessage(parsing: bytes.span) }

    @Test("A forwarded message keeps its sender and its bytes", arguments: peers)
    func roundTrip(_ peer: MulticastPeer) throws {
        let forwarded = try #require(Self.forwarded(Self.query, from: peer, origin: 0x0102_0304_0506_0708))
        let bytes = forwarded.encoded
        #expect(Self.parsed(bytes) == forwarded)
        #expect(forwarded.message == Self.query)
    }

    @Test("Every prefix of the header, and every other message, is not a forwarded message")
    func others() throws {
        let forwarded = try #require(Self.forwarded(Self.query, from: Self.peers[1]))
        let bytes = forwarded.encoded
        for count in 0..<(bytes.count - Self.query.count) {
            let prefix = Array(bytes[..<count])
            #expect(Self.parsed(prefix) == nil)
        }
        #expect(Self.parsed(Self.query) == nil)
        var wrongFamily = bytes
        wrongFamily[24] = 5
        #expect(Self.parsed(wrongFamily) == nil)
    }

    @Test("A message beyond the limit is not forwarded", arguments: [(9_000, true), (9_001, false)])
    func limit(_ count: Int, _ isForwarded: Bool) {
        let bytes = [UInt8](repeating: 0, count: count)
        #expect((Self.forwarded(bytes, from: Self.peers[0]) != nil) == isForwarded)
    }

    @Test("C74: other programs ignore a forwarded message because of its opcode")
    func ignored() throws {
        let wire = VirtualLink.settled()
        let forwarded = try #require(Self.forwarded(Self.query, from: Self.peers[0]))
        let bytes = forwarded.encoded
        let arrival = MulticastArrival(from: Self.peers[0])
        let interest = wire.hosts[0].link.interest(in: bytes.span, arrival, at: wire.now)
        #expect(interest == .none)
    }

    @Test(
        "Messages from this host that this process has not sent reveal another process",
        arguments: [(true, false, true), (false, false, false), (true, true, false)])
    func siblings(_ isSelf: Bool, isOwn: Bool, _ hasSiblings: Bool) {
        let wire = VirtualLink.settled()
        #expect(!wire.hosts[0].link.hasSiblings)
        if isOwn {
            (wire.hosts[0].link.familyCount, wire.copies) = (2, 2)
            wire.hosts[0].link.ask(DNSQuestion("beta.local", .a), QuestionID(rawValue: 1), at: wire.now)
            wire.run(for: .seconds(1))
        } else {
            _ = wire.hosts[0].link.interest(
                in: Self.query.span, MulticastArrival(from: Self.peers[0]), isSelf: isSelf, at: wire.now)
        }
        #expect(wire.hosts[0].link.hasSiblings == hasSiblings)
    }
}
