import CausewayTypes
import Testing

@testable import CausewayPackets

@Suite("Packets as JSON")
struct JSONTests {
    @Test("Layers and checksum states have the names of the Swift cases")
    func words() {
        for kind in LayerKind.allCases { #expect(kind.word.description == "\(kind)") }
        for status in [ChecksumStatus.notPresent, .good, .bad, .offloaded, .unknown] {
            #expect(status.word.description == "\(status)")
        }
    }

    @Test("A line has every field, and is appended to the buffer")
    func line() {
        let bytes = FilterTests.tcp("10.0.0.1", "192.168.1.1", port: 80, payload: 3)
        let packet = CapturedPacket(
            time: CaptureTime(seconds: 12, microseconds: 34), originalCount: bytes.count,
            capturedCount: bytes.count, linkType: .ethernet)
        var json = PacketJSON()
        var buffer = Array("before\n".utf8)
        json.append(packet, ByteView(bytes.span), to: &buffer)
        let ethernet = #""source":"02:00:00:00:00:01","destination":"ff:ff:ff:ff:ff:ff","type":2048"#
        let ipv4 =
            #""source":"10.0.0.1","destination":"192.168.1.1","protocol":6,"ttl":64,"id":0,"tos":0,"#
            + #""fragmentOffset":0,"dontFragment":false,"moreFragments":false"#
        let tcp =
            #""sourcePort":4000,"destinationPort":80,"sequence":0,"acknowledgement":0,"window":1024,"flags":"S""#
        let expected = """
            {"time":"12.000034000","length":57,"captured":57,"link":"EN10MB","interface":0,\
            "layers":[{"layer":"ethernet",\(ethernet)},{"layer":"ipv4",\(ipv4)},{"layer":"tcp",\(tcp)}],\
            "ethernet":{\(ethernet)},"ipv4":{\(ipv4)},"tcp":{\(tcp)},\
            "networkChecksum":"good","transportChecksum":"good","payload":3}
            """
        #expect(String(decoding: buffer, as: UTF8.self) == "before\n" + expected + "\n")
        #expect(String(decoding: json.line(packet, ByteView(bytes.span)), as: UTF8.self) == expected + "\n")
    }

    @Test("Numbers are printed with their digits and width", arguments: [0, 7, 9, 10, 99, 65535, UInt64.max])
    func numbers(value: UInt64) {
        for width in [0, 1, 2, 6, 22] {
            var text = TextBuffer()
            text.put("x")
            text.decimal(value, width: width)
            text.hex(value, width: width)
            let (decimal, hex) = ("\(value)", String(value, radix: 16))
            let padding = { (count: Int, with: String) in String(repeating: with, count: max(0, width - count)) }
            #expect(text.string == "x" + padding(decimal.count, " ") + decimal + padding(hex.count, "0") + hex)
        }
    }
}
