import CausewayTypes
import Foundation
import Testing

@testable import CausewayPackets

/// Encapsulated packets as JSON.
@Suite("JSON of encapsulated packets")
struct JSONLayerTests {
    static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        let packet = CapturedPacket(
            time: CaptureTime(seconds: 12, microseconds: 34), originalCount: bytes.count,
            capturedCount: bytes.count, linkType: .ethernet)
        var json = PacketJSON()
        let line = json.line(packet, ByteView(bytes.span))
        return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }

    static func layers(_ object: [String: Any]) throws -> [[String: Any]] {
        try #require(object["layers"] as? [[String: Any]])
    }

    @Test("VXLAN: all headers in order, and in addition those of the inner frame")
    func overlay() throws {
        let packet = FilterEncapsulationTests.tunnelled(isFrame: true, port: 4789, header: [8, 0, 0, 0, 0, 0, 5, 0])
        let object = try Self.object(packet)
        let layers = try Self.layers(object)
        #expect(
            layers.compactMap { $0["layer"] as? String }
                == ["ethernet", "ipv4", "udp", "vxlan", "ethernet", "ipv4", "icmp"])
        #expect(layers[1]["source"] as? String == "192.0.2.1" && layers[5]["source"] as? String == "203.0.113.1")
        #expect(layers[3]["vni"] as? Int == 5 && layers[2]["destinationPort"] as? Int == 4789)
        #expect((object["ethernet"] as? [String: Any])?["destination"] as? String == "02:00:00:00:00:08")
        #expect((object["ipv4"] as? [String: Any])?["destination"] as? String == "203.0.113.2")
        #expect((object["icmp"] as? [String: Any])?["type"] as? Int == 8)
        #expect(object["udp"] == nil, "UDP carries the tunnel, not the echo request")
        #expect(object["transportChecksum"] as? String == "good")
    }

    @Test("IPv6 in IPv4, and two VLAN tags")
    func internetInInternet() throws {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .providerVLAN))
        packet.add(VLANTag(identifier: 100, type: .vlan))
        packet.add(VLANTag(identifier: 200, type: .ipv4))
        packet.add(
            IPv4Header(
                source: FilterEncapsulationTests.here, destination: FilterEncapsulationTests.there,
                proto: .init(rawValue: 41)))
        packet.add(payload: FilterEncapsulationTests.segment6())
        let object = try Self.object(packet.finish())
        let layers = try Self.layers(object)
        #expect(layers.compactMap { $0["layer"] as? String } == ["ethernet", "vlan", "vlan", "ipv4", "ipv6", "tcp"])
        #expect(layers.compactMap { $0["id"] as? Int } == [100, 200, 0])
        #expect((object["vlan"] as? [String: Any])?["id"] as? Int == 100)
        #expect(object["ipv4"] == nil && object["ipv6"] != nil && object["tcp"] != nil)
    }

    @Test("A ClientHello's name and protocols; control characters are escaped, including those beyond ASCII")
    func clientHello() throws {
        var hello = ClientHelloText.record(name: "a\u{1B}\u{9B}\u{E9}", protocols: ["h2", "http/1.1"])
        let whole = try Self.object(Self.segment(hello))
        #expect(whole["tlsServerName"] as? String == "a\u{1B}\u{9B}\u{E9}")
        #expect(whole["tlsProtocols"] as? [String] == ["h2", "http/1.1"])
        var json = PacketJSON()
        let bytes = Self.segment(hello)
        let line = json.line(
            CapturedPacket(
                time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count,
                capturedCount: bytes.count, linkType: .ethernet), ByteView(bytes.span))
        let text = String(decoding: line, as: UTF8.self)
        #expect(text.contains("\"a\\u001b\\u009b\u{E9}\""), "\(text)")
        hello.removeLast(3)
        #expect(ClientHello(ByteView(hello.span))?.serverName == "a\u{1B}\u{9B}\u{E9}")
    }

    static func segment(_ payload: [UInt8]) -> [UInt8] {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        packet.add(
            IPv4Header(
                source: FilterEncapsulationTests.here, destination: FilterEncapsulationTests.there, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 50000, destinationPort: 443, flags: [.psh, .ack]))
        packet.add(payload: payload)
        return packet.finish()
    }
}

/// Typical ClientHello messages.
enum ClientHelloText {
    static func sized(_ content: [UInt8], bytes: Int = 2) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) } + content
    }

    /// Returns a TLS ClientHello as a handshake message.
    static func message(name: String?, protocols: [String]) -> [UInt8] {
        var extensions: [UInt8] = []
        if let name { extensions += [0, 0] + sized(sized([0] + sized(Array(name.utf8)))) }
        if !protocols.isEmpty {
            extensions += [0, 16] + sized(sized(protocols.flatMap { sized(Array($0.utf8), bytes: 1) }))
        }
        let random = [UInt8](repeating: 7, count: 32)
        let body = [3, 3] + random + [0] + sized([0x13, 1]) + sized([0], bytes: 1) + sized(extensions)
        return [1] + sized(body, bytes: 3)
    }

    static func record(name: String?, protocols: [String]) -> [UInt8] {
        [22, 3, 1] + sized(message(name: name, protocols: protocols))
    }
}
