import CausewayTypes
import Testing

@testable import CausewayPackets

/// Lines for generated packets.
@Suite("Lines of single packets")
struct PrinterLineTests {
    static func line(_ bytes: [UInt8], _ type: LinkType = .ethernet, verbosity: Int = 0) -> String {
        var options = PacketPrinter.Options()
        options.time = .none
        options.verbosity = verbosity
        var printer = PacketPrinter(options)
        let packet = CapturedPacket(
            time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count, capturedCount: bytes.count,
            linkType: type)
        return String(decoding: printer.line(packet, ByteView(bytes.span)), as: UTF8.self)
    }

    static func segment(_ port: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        packet.add(
            IPv4Header(
                source: FilterEncapsulationTests.here, destination: FilterEncapsulationTests.there, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 50000, destinationPort: port, flags: [.psh, .ack]))
        packet.add(payload: payload)
        return packet.finish()
    }

    @Test(
        "Text is printed at the beginning of a message, otherwise only the protocol's name",
        arguments: [
            (80, "GET / HTTP/1.1\r\n", "HTTP: GET / HTTP/1.1"), (80, "HTTP/1.1 200 OK\r\n", "HTTP: HTTP/1.1 200 OK"),
            (80, "<html>\r\n", "HTTP"), (80, "200 OK\r\n", "HTTP"), (80, "GET /", "HTTP: GET / [|http]"),
            (80, "GET \u{1B}[2J\r\n", "HTTP"), (21, "220-Welcome\r\n", "FTP: 220-Welcome"),
            (21, "2201\r\n", "FTP"), (25, "250 ok\r\n", "SMTP: 250 ok"), (587, "ehlo me\r\n", "SMTP: ehlo me"),
            (8554, "\u{0}\u{1}", "RTSP"),
        ])
    func text(port: Int, payload: String, expected: String) {
        let line = Self.line(Self.segment(UInt16(port), Array(payload.utf8)))
        #expect(line.hasSuffix(", length \(payload.utf8.count): \(expected)\n"), "\(line)")
    }

    @Test("A TCP header longer than its packet is reported, and not trusted")
    func longHeader() {
        var bytes = Self.segment(9, [])
        bytes[14 + 20 + 12] = 0x70
        #expect(Self.line(bytes).hasSuffix(": Flags [P.] [bad hdr length 28 - too long, > 20]\n"))
    }

    // This test checks RFC 8446 §4.1.2, §5.1.
    @Test("A TLS client's first message shows the server name, on any port, without control characters")
    func clientHello() {
        let hello = ClientHelloText.record(name: "www.example.com", protocols: ["h2", "http/1.1"])
        let line = Self.line(Self.segment(8443, hello))
        #expect(line.hasSuffix(": TLS ClientHello, SNI www.example.com, ALPN h2,http/1.1\n"), "\(line)")
        let strange = Self.line(Self.segment(443, ClientHelloText.record(name: "a\u{1B}b", protocols: [])))
        #expect(strange.hasSuffix(": TLS ClientHello, SNI a^[b\n"), "\(strange)")
    }

    @Test("A multicast DNS query shows whether it requests unicast", arguments: [false, true])
    func multicastQuestion(isUnicast: Bool) {
        var packet = PacketBuilder()
        packet.add(
            IPv4Header(
                source: FilterEncapsulationTests.here, destination: IPv4Address(bits: 0xE000_00FB), proto: .udp))
        packet.add(UDPHeader(sourcePort: 5353, destinationPort: 5353))
        let name: [UInt8] = [1, 0x61, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0]
        packet.add(payload: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 12, isUnicast ? 0x80 : 0, 1])
        let line = Self.line(packet.finish(), .raw)
        #expect(line.contains(isUnicast ? ": 0 PTR (QU)? a.local." : ": 0 PTR (QM)? a.local."), "\(line)")
    }

    @Test("PPP's protocol field may be one byte, in lines and in the API")
    func compressedProtocol() {
        let inner = Array(FilterTests.tcp("10.0.0.1", "10.0.0.2", port: 80).dropFirst(14))
        let session: [UInt8] = [0x11, 0, 0, 5, 0, UInt8(inner.count + 1), 0x21]
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .pppoeSession))
        packet.add(payload: session + inner)
        let bytes = packet.finish()
        #expect(Self.line(bytes).hasPrefix("PPPoE  [ses 0x5] IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [S]"))
        let port = Packet(ByteView(bytes.span), linkType: .ethernet).tcp?.destinationPort
        #expect(port == 80)
        #expect(Self.line([0x21] + inner, .ppp).hasPrefix("IP 10.0.0.1.4000 >"))
    }

    @Test(
        "Compressed files are refused with the name of the compression",
        arguments: [
            ("gzip", [0x1F, 0x8B, 8, 0]), ("bzip2", [0x42, 0x5A, 0x68, 0x39]), ("xz", [0xFD, 0x37, 0x7A, 0x58]),
            ("zstd", [0x28, 0xB5, 0x2F, 0xFD]), ("lz4", [0x04, 0x22, 0x4D, 0x18]),
        ] as [(String, [UInt8])])
    func compressed(program: String, magic: [UInt8]) {
        var reader = CaptureFileReader()
        reader.feed(magic + [UInt8](repeating: 0, count: 40))
        #expect(throws: CaptureFileError.compressed(program)) { try reader.next() }
    }
}
