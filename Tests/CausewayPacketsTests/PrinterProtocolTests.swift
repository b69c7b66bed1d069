import CausewayTypes
import Testing

@testable import CausewayPackets

/// Lines of encapsulated protocols, as tcpdump 4.99 prints them.
@Suite("Lines of protocols")
struct PrinterProtocolTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var carrier: Carrier
        var content: [UInt8]
        var line: String
        var testDescription: String { line }

        init(_ carrier: Carrier, _ content: [UInt8], _ line: String) {
            (self.carrier, self.content, self.line) = (carrier, content, line)
        }
    }

    enum Carrier: Sendable {
        case udp(UInt16), udp6(UInt16), tcp(UInt16), ip(UInt8, ttl: UInt8 = 64), ethernet(UInt16), llc
    }

    static func packet(_ row: Row) -> [UInt8] {
        var packet = PacketBuilder()
        let (here, there) = (FilterEncapsulationTests.here, FilterEncapsulationTests.there)
        if case .tcp(let port) = row.carrier { return PrinterLineTests.segment(port, row.content) }
        switch row.carrier {
        case .udp(let port):
            packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
            packet.add(IPv4Header(source: here, destination: there, proto: .udp))
            packet.add(UDPHeader(sourcePort: 40000, destinationPort: port))
        case .udp6(let port):
            packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv6))
            let address = IPv6Address(high: 0, low: 1)
            packet.add(IPv6Header(source: address, destination: address, nextHeader: .udp))
            packet.add(UDPHeader(sourcePort: 40000, destinationPort: port))
        case .ip(let number, let ttl):
            packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
            packet.add(
                IPv4Header(source: here, destination: there, proto: .init(rawValue: number), timeToLive: ttl))
        case .ethernet(let type):
            packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .init(rawValue: type)))
        case .llc:
            packet.add(
                EthernetHeader(
                    destination: .broadcast, source: .zero, type: .init(rawValue: UInt16(row.content.count))))
        case .tcp: break
        }
        packet.add(payload: row.content)
        return packet.finish()
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static let systemDescription: [UInt8] = [0x06, 0x08, 0x2B, 6, 1, 2, 1, 1, 5, 0]
    private static func snmp(_ kind: UInt8, community: String, value: [UInt8]) -> [UInt8] {
        func wrapped(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        let bindings = wrapped(0x30, wrapped(0x30, systemDescription + value))
        let request = wrapped(kind, [2, 1, 7, 2, 1, 0, 2, 1, 0] + bindings)
        return wrapped(0x30, [2, 1, 1] + wrapped(4, text(community)) + request)
    }

    private static func exchange(_ version: UInt8, _ kind: UInt8, _ flags: UInt8, message: UInt8) -> [UInt8] {
        [1, 2, 3, 4, 5, 6, 7, 8] + zeros(8) + [1, version << 4, kind, flags, 0, 0, 0, message] + zeros(4)
    }

    static let rows: [Row] = [
        Row(.udp(123), [0x23] + zeros(47), "NTPv4, Client, length 48"),
        Row(.udp(123), [0x1C] + zeros(47), "NTPv3, Server, length 48"),
        Row(.udp6(547), [1, 0, 0, 1], "dhcp6 solicit"), Row(.udp6(546), [99, 0, 0, 1], "dhcp6 msgtype-99"),
        Row(.udp(5060), text("OPTIONS sip:a@example SIP/2.0\r\n\r\n"), "SIP: OPTIONS sip:a@example SIP/2.0"),
        Row(.udp(5060), text("SIP/2.0 200 OK\r\n"), "SIP: SIP/2.0 200 OK"), Row(.udp(5060), text("\r\n"), "SIP"),
        Row(
            .udp(161), snmp(0xA0, community: "public", value: [5, 0]), " GetRequest(25)  .1.3.6.1.2.1.1.5.0"),
        Row(
            .udp(161), snmp(0xA2, community: "pr\u{1B}", value: [4, 2, 0x61, 0x62]),
            " C=\"pr^[\" GetResponse(27)  .1.3.6.1.2.1.1.5.0=\"ab\""),
        Row(
            .udp(161), snmp(0xA2, community: "public", value: [0x43, 2, 1, 0]),
            " GetResponse(27)  .1.3.6.1.2.1.1.5.0=256"),
        Row(
            .udp(161), snmp(0xA5, community: "public", value: [5, 0]), " GetBulk(25)  N=0 M=0 .1.3.6.1.2.1.1.5.0"),
        Row(.udp(500), exchange(1, 2, 0, message: 0), "isakmp: phase 1 I ident"),
        Row(.udp(500), exchange(1, 32, 1, message: 1), "isakmp: phase 2/others I oakley-quick[E]"),
        Row(.udp(500), exchange(2, 34, 8, message: 0), "isakmp: parent_sa ikev2_init[I]"),
        Row(.udp(4500), [0, 0, 1, 0, 0, 0, 0, 5] + zeros(16), "UDP-encap: ESP(spi=0x00000100,seq=0x5), length 24"),
        Row(.udp(4500), zeros(4) + exchange(1, 2, 1, message: 0), "NONESP-encap: isakmp: phase 1 I ident[E]"),
        Row(.udp(4500), [0xFF], "isakmp-nat-keep-alive"),
        Row(.udp(1812), [1, 0xC8, 0, 55] + zeros(51), "RADIUS, Access-Request (1), id: 0xc8 length: 55"),
        Row(.udp(88), [0x6A, 0x81], " v5"), Row(.udp(514), text("<34>x"), "SYSLOG auth.critical, length: 5"),
        Row(.udp(520), [1, 2, 0, 0] + zeros(20), "RIPv2, Request, length: 24"),
        Row(
            .udp(1985), [0, 0, 16, 3, 10, 120, 1, 0] + text("cisco") + zeros(3) + [192, 0, 2, 1],
            "HSRPv0-hello 20: state=active group=1 addr=192.0.2.1"),
        Row(
            .udp(3784), [0x20, 0x44, 3, 24] + zeros(20),
            "BFDv1, Control, State Down, Flags: [Authentication Present], length: 24"),
        Row(
            .udp(443), [0xC0, 0, 0, 0, 1, 2, 0xAB, 0xCD, 0, 0, 0x40, 0x20] + zeros(32),
            "quic, initial, dcid abcd, length 32"),
        Row(.udp(443), [0x40] + zeros(30), "quic, protected"), Row(.udp(443), zeros(8), "UDP, length 8"),
        Row(.ip(50), [0, 0, 1, 0, 0, 0, 0, 1] + zeros(16), "ESP(spi=0x00000100,seq=0x1), length 24"),
        Row(
            .ip(112, ttl: 255), [0x21, 1, 100, 1, 0, 1, 0, 0] + zeros(12),
            "VRRPv2, Advertisement, vrid 1, prio 100, authtype none, intvl 1s, length 20"),
        Row(
            .ip(112), [0x31, 1, 100, 1, 0, 100, 0, 0] + zeros(4),
            "VRRPv3, Advertisement, (ttl 64), vrid 1, prio 100, intvl 100cs, length 12"),
        Row(.ip(89), [2, 1, 0, 44] + zeros(40), "OSPFv2, Hello, length 44"),
        Row(.ip(89), [2, 1, 0, 44] + zeros(10) + [0, 2, 0, 0, 1, 16] + zeros(40), "OSPFv2, Hello, length 44"),
        Row(.ip(103), [0x23, 0, 0, 0] + zeros(4), "PIMv2, Join / Prune, length 8"),
        Row(.ip(88), [2, 5] + zeros(18), "EIGRP Hello, length: 20"), Row(.ip(9), zeros(4), "igrp: [|igrp]"),
        Row(.ip(108), [6, 0, 0x12, 0x34], "IPComp(cpi=0x1234)"),
        Row(.tcp(179), zeros(19), "BGP"),
        Row(.tcp(6379), text("*2\r\n$3\r\nGET\r\n$3\r\nfoo\r\n"), "RESP \"GET\" \"foo\""),
        Row(.tcp(6379), text("+OK\r\n:5\r\n$-1\r\n$0\r\n\r\n"), "RESP \"OK\" \"5\" null empty"),
        Row(.tcp(6379), text("$5\r\nab"), "RESP [|resp]"),
        Row(.tcp(6379), text("+a\u{1B}\r\n"), "RESP \"a^[\""),
        Row(.ethernet(0x888E), [2, 3, 0, 95] + zeros(95), "EAPOL key (3) v2, len 95"),
        Row(.ethernet(0x88CC), [2, 2, 7, 0x31, 0x0A, 3, 0x73, 0x77, 0x1B, 0, 0], "LLDP, length 11: sw^["),
        Row(.ethernet(0x88A2), [0x18] + zeros(17), "AoE length 18, Ver 1, Flags: [Response]"),
        Row(
            .llc, [0x42, 0x42, 3] + zeros(35),
            "STP 802.1d, Config, Flags [none], bridge-id 0000.00:00:00:00:00:00.0000, length 35"),
        Row(
            .llc, [0x42, 0x42, 3, 0, 0, 2, 2, 0x7C] + zeros(31),
            "STP 802.1w, Rapid STP, Flags [Learn, Forward, Agreement], bridge-id 0000.00:00:00:00:00:00.0000, length 36"
        ),
        Row(.llc, [0x42, 0x42, 3, 0, 0, 0, 0x80], "STP 802.1d, Topology Change"),
        Row(
            .llc, [0xAA, 0xAA, 3, 0, 0, 12, 0x20, 0, 2, 180, 0, 0, 0, 1, 0, 6, 0x53, 0x31],
            "CDPv2, ttl: 180s, Device-ID 'S1'"),
        Row(
            .llc,
            [0xFE, 0xFE, 3, 0x83, 27, 1, 0, 15, 1, 0, 0, 1, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33] + zeros(4)
                + [64, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 2],
            "IS-IS, L1 Lan IIH, src-id 1111.2222.3333, lan-id 1111.2222.3333.02, prio 64, length 27"),
        Row(
            .llc, [0x04, 0x04, 1, 2],
            "00:00:00:00:00:00 > ff:ff:ff:ff:ff:ff SNA Supervisory, Receiver Ready, rcv seq 1, Flags [Command], length 4"
        ),
    ]

    @Test("A packet of each protocol has its line", arguments: rows)
    func line(_ row: Row) {
        let line = PrinterLineTests.line(Self.packet(row))
        switch row.carrier {
        case .ethernet, .llc: #expect(line == row.line + "\n")
        default: #expect(line.hasSuffix(": " + row.line + "\n"), "\(line)")
        }
    }

    @Test("A packet that is truncated, or has any byte changed, is printed on one line", arguments: rows)
    func damage(_ row: Row) {
        let whole = Self.packet(row)
        var random = Mutations(seed: UInt64(whole.count))
        for length in 14..<whole.count {
            for verbosity in 0...2 {
                let line = PrinterLineTests.line(Array(whole.prefix(length)), verbosity: verbosity)
                #expect(line.last == "\n" && !line.contains("\u{1B}"))
            }
        }
        for _ in 0..<200 {
            let line = PrinterLineTests.line(MutationTests.mutated(whole, &random), verbosity: 2)
            #expect(!line.contains("\u{1B}"))
        }
    }

    private static let beacon: [UInt8] =
        [0x80, 0, 0, 0] + [2, 0, 0, 0, 0, 1] + [2, 0, 0, 0, 0, 2] + [2, 0, 0, 0, 0, 3] + [0, 0] + zeros(8)
        + [100, 0, 0x11, 0] + [0, 3, 0x61, 0x1B, 0x62] + [1, 2, 0x82, 0x0B] + [3, 1, 11]
    private static let protected: [UInt8] = [8, 0x41] + zeros(22) + [0, 0x20, 0x23, 0x20] + zeros(8)
    private static let acknowledgment: [UInt8] = [0xD4, 0, 0, 0, 2, 0, 0, 0, 0, 1]

    @Test(
        "Wireless frames, with and without radiotap",
        arguments: [
            (beacon, "Beacon (a^[b) [1.0* 5.5 Mbit] ESS CH: 11, PRIVACY"), (protected, "Data IV:232000 Pad 20 KeyID 0"),
            (acknowledgment, "Acknowledgment RA:02:00:00:00:00:01 "),
        ])
    func wireless(frame: [UInt8], expected: String) {
        #expect(PrinterLineTests.line(frame, .wireless) == expected + "\n")
        let radiotap: [UInt8] =
            [0, 0, 25, 0, 0x2F, 0, 0, 0] + [1, 0, 0, 0, 0, 0, 0, 0] + [0, 12, 0x3C, 0x14, 0x40, 0x01, 0xC0, 0, 0]
        let line = PrinterLineTests.line(radiotap + frame, .wirelessRadio)
        #expect(line == "1us tsft 6.0 Mb/s 5180 MHz 11a -64dBm signal " + expected + "\n")
        for length in 0..<(radiotap + frame).count {
            _ = PrinterLineTests.line(Array((radiotap + frame).prefix(length)), .wirelessRadio)
        }
    }

    @Test("The answer in a key exchange is the responder's")
    func exchangeSides() {
        var printer = PacketPrinter()
        printer.options.time = .none
        func line(from source: UInt32, to destination: UInt32) -> String {
            var packet = PacketBuilder()
            packet.add(
                IPv4Header(
                    source: IPv4Address(bits: source), destination: IPv4Address(bits: destination), proto: .udp))
            packet.add(UDPHeader(sourcePort: 500, destinationPort: 500))
            packet.add(payload: Self.exchange(1, 2, 0, message: 0))
            let bytes = packet.finish()
            let described = CapturedPacket(
                time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count,
                capturedCount: bytes.count, linkType: .raw)
            return String(decoding: printer.line(described, ByteView(bytes.span)), as: UTF8.self)
        }
        #expect(line(from: 1, to: 2).hasSuffix("isakmp: phase 1 I ident\n"))
        #expect(line(from: 2, to: 1).hasSuffix("isakmp: phase 1 R ident\n"))
        #expect(line(from: 3, to: 1).hasSuffix("isakmp: phase 1 ? ident\n"))
    }
}
