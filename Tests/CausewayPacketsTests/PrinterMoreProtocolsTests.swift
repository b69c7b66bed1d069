import Testing

@testable import CausewayPackets

/// Compares printed lines for industrial, vehicular and switch protocols with those of tcpdump 4.99.
@Suite("Lines of further protocols")
struct PrinterMoreProtocolsTests {
    typealias Row = PrinterProtocolTests.Row

    static func bytes(_ hex: String) -> [UInt8] { QUICVectors.bytes(hex.filter { $0 != " " }) }

    /// Returns a PTP message with port identity a0 00000000 01, port 3 and sequence number 4.
    static func ptp(
        _ type: String, version: String = "02", length: String, flags: String = "0000",
        correction: String = "0000000000000000", control: String = "00", _ body: String
    ) -> [UInt8] {
        bytes(
            type + version + length + "0107" + flags + correction + "00000009 0000a00000000001 0003 0004" + control
                + "00" + body)
    }

    static let ptpHead = ", domain : 1, reserved1 : 7, Flags "
    static let ptpCorrection = ", NS correction : 0, sub NS correction : 0"
    static let ptpPort = ", reserved2 : 9, clock identity : 0xa00000000001, port id : 3, seq id : 4"
    static let rows: [Row] = [
        Row(
            .udp(319), ptp("00", length: "002c", flags: "0200", "000100000002 00000003"),
            "PTPv2, v1 compat : no, msg type : sync msg, length : 44" + ptpHead + "[two step]" + ptpCorrection + ptpPort
                + ", control : 0 (Sync), log message interval : 0, originTimeStamp : 4294967298 seconds, 3 nanoseconds"),
        Row(
            .udp(320), ptp("19", length: "0036", control: "03", "000000000002 00000003 1415161718191a1b 1c1d"),
            "PTPv2, v1 compat : yes, msg type : delay resp msg, length : 54" + ptpHead + "[none]" + ptpCorrection
                + ptpPort + ", control : 3 (Delay_Resp), log message interval : 0, receiveTimeStamp : 2 seconds, "
                + "3 nanoseconds, port identity : 0x1415161718191a1b, port id : 7197"),
        Row(
            .ethernet(0x88F7),
            ptp(
                "0b", length: "0040", flags: "0303", correction: "fffffffffffeee90", control: "09",
                "000000000000 00000000 0025 00 80 f8 fe ffff 80 7483efffff01ac16 0000 50"),
            "PTPv2, v1 compat : no, msg type : announce msg, length : 64" + ptpHead
                + "[l1 61, l1 59, alternate master, two step], NS correction : 281474976710654, "
                + "sub NS correction : 61072" + ptpPort + ", control : 9 (Reserved), log message interval : 0, "
                + "originTimeStamp : 0 seconds 0 nanoseconds, origin cur utc :37, rsvd : 0, gm priority_1 : 128, "
                + "gm clock class : 248, gm clock accuracy : 254, gm clock variance : 65535, gm priority_2 : 128, "
                + "gm clock id : 0x7483efffff01ac16, steps removed : 0, time source : 0x50"),
        Row(.udp(320), ptp("00", version: "01", length: "002c", ""), "PTPv1 (not implemented)"),
        Row(.udp(319), [0, 2], " [length 2 < 34] (invalid)"),
        Row(
            .udp(319), ptp("00", length: "002c", "0001"),
            "PTPv2, v1 compat : no, msg type : sync msg, length : 44" + ptpHead + "[none]" + ptpCorrection + ptpPort
                + ", control : 0 (Sync), log message interval : 0, originTimeStamp :  [|ptp]"),
        Row(.tcp(6653), bytes("0400"), "OpenFlow\n\tversion 1.3, type HELLO (end of TCP payload)"),
        Row(
            .tcp(6633), bytes("0402000800000001 0104001000000001 0000000000000000 01"),
            "OpenFlow\n\tversion 1.3, type ECHO_REQUEST, length 8, xid 0x00000001"
                + "\n\tversion 1.0, type VENDOR, length 16, xid 0x00000001\n\tversion 1.0 (end of TCP payload)"),
        Row(
            .tcp(6653), bytes("0400000400000001"),
            "OpenFlow\n\tversion 1.3, type HELLO, length 4 (too short!), xid 0x00000001 (invalid)"),
        Row(
            .tcp(6653), bytes("0900000800000001 0400002000000001 aabb"),
            "OpenFlow\n\tversion unknown (0x09), type unknown (0x00), length 8, xid 0x00000001"
                + "\n\tversion 1.3, type HELLO, length 32, xid 0x00000001 [|openflow]"),
        Row(
            .ethernet(0x8947),
            bytes("0151000200080002 0001020304050607 08090a0b 0c0d0e0f 10111213 1415161718191a1b")
                + [UInt8](repeating: 0, count: 32) + bytes("13881389 0001 02030405"),
            "GeoNet src:00:00:00:00:00:00; v:0 NH:1-BTP-A HT:5-1-TopoScopeBcast-MH HopLim:2 Payload:8 "
                + "GN_ADDR:00:01:02:03:04:05:06:07 lat:202182159 lon:269554195; BTP Dst:5000 Src:5001; "
                + "ItsPduHeader v:0 t:1-DENM"),
        Row(
            .ethernet(0x8947), [UInt8](repeating: 0, count: 4),
            "GeoNet src:00:00:00:00:00:00;  (common header length 4 < 36) (invalid)"),
        Row(.ethernet(0x1111), [3, 4, 0], "CALM FAST src:00:00:00:00:00:00; SrcNwref:3; DstNwref:4; "),
        Row(
            .udp(6343), bytes("00000005 00000001 0a000001 00000007 00000008 00000009 00000000"),
            "sFlowv5, IPv4 agent 10.0.0.1, agent-id 7, length 28"),
        Row(.udp(6343), bytes("00000004 00000001"), "sFlow version 4 packet not supported"),
        Row(.udp(6343), bytes("00000005 00000001"), "sFlowv5 [length 8 < 28] (invalid)"),
    ]

    @Test("Each protocol's line", arguments: rows)
    func lines(_ row: Row) {
        let line = PrinterLineTests.line(PrinterProtocolTests.packet(row))
        #expect(line.hasSuffix(row.line + "\n"), "\(line)")
    }

    @Test("A packet of authentication headers is printed to a limited depth")
    func manyAuthenticationHeaders() {
        let header = Self.bytes("33 01 0000 00000001 00000002")
        let content = (0..<5_000).flatMap { _ in header }
        let line = PrinterLineTests.line(PrinterProtocolTests.packet(Row(.ip(51), content, "")))
        #expect(line.hasSuffix("[nested too deeply]\n"))
        #expect(line.split(separator: "AH(").count == 19)
    }

    static let broadcast = "0001 0800 0604 0001 020000000000 0a000001 000000000000 0a000002"

    @Test(
        "A switch's tag is printed before the frame, with the link layer in detail",
        arguments: [
            (
                LinkType.dsa, "e00c2005", "DSA Forward trunk 0.1, VLAN 5t, ",
                "Marvell DSA mode Forward, dev 0, trunk 1, tagged, VID 5, FPri 1"
            ),
            (
                .dsa, "61074fff", "DSA CPU > port 1.0, VLAN 4095t, ",
                "Marvell DSA mode From CPU, target dev 1, port 0, tagged, CFI, VID 4095, FPri 2"
            ),
            (
                .dsa, "80080000", "DSA port 0.1 > Tx Sniffer, VLAN 0u, ",
                "Marvell DSA mode To Sniffer, source dev 0, port 1, egress sniff, untagged, VID 0, FPri 0"
            ),
            (
                .dsaExtended, "dada1234 212b4567", "EDSA 0xdada, port 1.5 > CPU, VLAN 1383t, ",
                "Marvell EDSA ethertype 0xdada (Unknown), rsvd 18 52, mode To CPU, source dev 1, port 5, "
                    + "code IGMP/MLD Trap, tagged, CFI, VID 1383, FPri 2"
            ),
            (
                .broadcomTag, "3fffffff", "BRCM tag OP: IG, TC: 7, TE: Reserved, TS: 1, DST map: 0x01ff, ",
                "BRCM tag OP: IG, TC: 7, TE: Reserved, TS: 1, DST map: 0x01ff"
            ),
            (
                .broadcomTag, "00ff08e3", "BRCM tag OP: EG, CID: 255, RC: prot term, TC: 7, port: 3, ",
                "BRCM tag OP: EG, CID: 255, RC: prot term, TC: 7, port: 3"
            ),
        ] as [(LinkType, String, String, String)])
    func switchTags(type: LinkType, tag: String, brief: String, detailed: String) {
        let frame = [UInt8](repeating: 0, count: 12) + Self.bytes(tag + "0806" + Self.broadcast)
        let content = "Request who-has 10.0.0.2 tell 10.0.0.1, length 28\n"
        #expect(PrinterLineTests.line(frame, type) == brief + "ARP, " + content)
        var options = PacketPrinter.Options()
        (options.time, options.showsLink) = (.none, true)
        var printer = PacketPrinter(options)
        let packet = CapturedPacket(
            time: .init(seconds: 0, microseconds: 0), originalCount: frame.count, capturedCount: frame.count,
            linkType: type)
        let line = String(decoding: printer.line(packet, ByteView(frame.span)), as: UTF8.self)
        let addresses = "00:00:00:00:00:00 > 00:00:00:00:00:00, "
        #expect(line == addresses + detailed + ", ethertype ARP (0x0806), length \(frame.count): " + content)
    }

    @Test(
        "Cisco HDLC",
        arguments: [
            ("0f001234", "unknown CHDLC protocol (0x1234)"),
            ("8f008035 00000000 00000000 00000000 ffff", "SLARP (length: 14), request"),
            ("8f008035 00000001 0a000001 ffffff00 ffff", "SLARP (length: 14), reply 10.0.0.1/255.255.255.0"),
            (
                "8f008035 00000002 00000001 00000002 ffff 0527c5b9 0000",
                "SLARP (length: 20), keepalive: mineseen=0x00000001, yourseen=0x00000002, reliability=0xffff, "
                    + "link uptime=1d0h1m32s"
            ),
            (
                "8f008035 00000003 0a000001 ffffff00 ffff 0001 0002",
                "SLARP (length: 18), 0x03 unknown\n\t0x0000:  0a00 0001 ffff ff00 ffff 0001 0002"
            ),
            ("8f008035 0000", "SLARP (length: 2),  [|chdlc_slarp]"), ("8f00", " [|chdlc]"),
        ])
    func hdlc(hex: String, expected: String) {
        #expect(PrinterLineTests.line(Self.bytes(hex), .hdlc) == expected + "\n")
    }

    @Test(
        "DCCP with short and long numbers",
        arguments: [
            ("0001 0002 07 31 0000 01 00 000000000005 00000009", "DCCP-Request (service=9) "),
            ("0001 0002 06 00 0000 06 000005 00000009", "DCCP-Ack (ack=9) "),
            (
                "0001 0002 07 00 0000 0f 00 000000000005 0000 000000000009 0b000000",
                "DCCP-Reset (code=aggression_penalty) (ack=9) "
            ),
            ("0001 0002 07 00 0000 14 000005 00000009", "unknown-type-10 (ack=9) "),
            ("0001 0002 07 00 0000 0f 00 000000000005 00000000", "truncated-DCCP-Reset - 8 bytes missing!"),
        ])
    func dccp(hex: String, expected: String) {
        let line = PrinterLineTests.line(PrinterProtocolTests.packet(Row(.ip(33), Self.bytes(hex), "")))
        #expect(line.hasSuffix(".2: DCCP \(expected)\n"), "\(line)")
    }

    @Test("Every length of these packets ends with a line")
    func truncated() {
        for row in Self.rows {
            let packet = PrinterProtocolTests.packet(row)
            for count in 0...packet.count {
                for verbosity in 0...2 {
                    #expect(PrinterLineTests.line(Array(packet.prefix(count)), verbosity: verbosity).hasSuffix("\n"))
                }
            }
        }
    }
}
