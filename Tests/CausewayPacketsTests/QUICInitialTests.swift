import CausewayTypes
import Foundation
import Testing

@testable import CausewayPackets

/// The first packet of a QUIC connection, opened with OpenSSL.
@Suite("QUIC Initial packets (RFC 9001, RFC 9369)")
struct QUICInitialTests {
    static let flow = QUICInitials.Flow(sourcePort: 50_000, destinationPort: 443)

    /// Returns a UDP datagram in Ethernet and IPv4.
    static func datagram(_ payload: [UInt8], to port: UInt16 = 443) -> [UInt8] {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        packet.add(
            IPv4Header(
                source: FilterEncapsulationTests.here, destination: FilterEncapsulationTests.there, proto: .udp))
        packet.add(UDPHeader(sourcePort: 50_000, destinationPort: port))
        packet.add(payload: payload)
        return packet.finish()
    }

    static func captured(_ bytes: [UInt8]) -> CapturedPacket {
        CapturedPacket(
            time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count, capturedCount: bytes.count,
            linkType: .ethernet)
    }

    static func line(
        _ payload: [UInt8], to port: UInt16 = 443, verbosity: Int = 1, _ cipher: QUICInitialCipher? = .openSSL
    ) -> String {
        var options = PacketPrinter.Options()
        options.time = .none
        options.verbosity = verbosity
        var printer = PacketPrinter(options, initialCipher: cipher)
        let bytes = datagram(payload, to: port)
        return String(decoding: printer.line(captured(bytes), ByteView(bytes.span)), as: UTF8.self)
    }

    static func object(
        _ payload: [UInt8], to port: UInt16 = 443, _ cipher: QUICInitialCipher? = .openSSL
    ) throws -> [String: Any] {
        var json = PacketJSON(initialCipher: cipher)
        let bytes = datagram(payload, to: port)
        let line = Data(json.line(captured(bytes), ByteView(bytes.span)))
        return try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    }

    static let versions: [(version: UInt32, packet: [UInt8])] = [
        (QUICPacketPlace.versionOne, QUICVectors.versionOne), (QUICPacketPlace.versionTwo, QUICVectors.versionTwo),
    ]

    // This test checks RFC 8446 §7.1.
    @Test(
        "Keys follow from the connection ID (RFC 9001 §A.1, RFC 9369 §A.1)",
        arguments: [
            (
                QUICPacketPlace.versionOne, "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c",
                "9f50449e04a0e810283a1e9933adedd2"
            ),
            (
                QUICPacketPlace.versionTwo, "8b1a0bc121284290a29e0971b5cd045d", "91f73e2351d8fa91660e909f",
                "45b95e15235d6f45a6b19cbcb0294ba9"
            ),
        ])
    func keys(version: UInt32, key: String, nonce: String, headerKey: String) throws {
        let keys = try #require(QUICInitialKeys(QUICVectors.identifier, version: version, .openSSL))
        #expect(keys.key == QUICVectors.bytes(key))
        #expect(keys.nonce == QUICVectors.bytes(nonce))
        #expect(keys.headerKey == QUICVectors.bytes(headerKey))
    }

    @Test("The client's packet is opened (RFC 9001 §A.2, RFC 9369 §A.2)", arguments: versions.indices)
    func frames(index: Int) throws {
        let (version, packet) = Self.versions[index]
        let found = QUICPacketPlace(ByteView(packet.span), at: 0)
        let place = try #require(found)
        #expect(place.kind == .initial && place.version == version && place.number == 18 && place.end == 1_200)
        let keys = try #require(QUICInitialKeys(QUICVectors.identifier, version: version, .openSSL))
        let frames = keys.open(ByteView(packet.span), place, .openSSL)
        #expect(frames == QUICVectors.frames + [UInt8](repeating: 0, count: 917))
    }

    @Test("The line with -v and the JSON object show the names, on any port", arguments: versions.indices)
    func names(index: Int) throws {
        let packet = Self.versions[index].packet
        let header = "quic, initial, dcid 8394c8f03e515708, length 1182"
        let names = ": TLS ClientHello, SNI example.com, ALPN alpn\n"
        #expect(Self.line(packet).hasSuffix(".443: " + header + names))
        #expect(Self.line(packet, verbosity: 0).hasSuffix(".443: " + header + "\n"))
        #expect(Self.line(packet, to: 8443).hasSuffix(".8443: " + header + names))
        #expect(Self.line(packet, to: 8443, verbosity: 0).hasSuffix(".8443: UDP, length 1200\n"))
        for port: UInt16 in [443, 8443] {
            let object = try Self.object(packet, to: port)
            #expect(object["tlsServerName"] as? String == "example.com")
            #expect(object["tlsProtocols"] as? [String] == ["alpn"])
        }
    }

    @Test("Without a library, lines and objects are those of a closed packet")
    func withoutLibrary() throws {
        for cipher in [QUICInitialCipher.missing, nil] {
            let line = Self.line(QUICVectors.versionOne, cipher)
            #expect(line.hasSuffix("quic, initial, dcid 8394c8f03e515708, length 1182\n"))
            #expect(Self.line(QUICVectors.versionOne, to: 8443, cipher).hasSuffix("UDP, length 1200\n"))
            #expect(try Self.object(QUICVectors.versionOne, cipher)["tlsServerName"] == nil)
        }
    }

    @Test("A server's packet stays closed: its keys follow from the connection ID of the client's packet")
    func server() {
        var initials = QUICInitials(.openSSL)
        #expect(initials.open(QUICVectors.serverVersionOne, Self.flow) == nil)
        #expect(initials.count == 0)
    }

    @Test("A packet with one wrong bit stays closed, wherever the bit is", arguments: versions.indices)
    func wrongBit(index: Int) {
        var initials = QUICInitials(.openSSL)
        for place in 0..<1_200 {
            var packet = Self.versions[index].packet
            packet[place] ^= 1 << UInt8(place & 7)
            #expect(initials.open(packet, Self.flow) == nil, "byte \(place)")
        }
    }

    @Test("A truncated packet stays closed, wherever it ends", arguments: versions.indices)
    func truncated(index: Int) {
        var initials = QUICInitials(.openSSL)
        let packet = Self.versions[index].packet
        for count in 0..<1_200 {
            #expect(initials.open(Array(packet.prefix(count)), Self.flow) == nil, "\(count) bytes")
        }
        #expect(initials.open(packet, Self.flow)?.hello?.serverName == "example.com")
    }

    @Test("Bytes after the packet do not matter, and another datagram of a known connection is opened again")
    func repeated() {
        var initials = QUICInitials(.openSSL)
        for rest in [[], [0], [0x40, 1, 2], QUICVectors.versionOne] as [[UInt8]] {
            let datagram = QUICVectors.versionOne + rest
            #expect(initials.open(datagram, Self.flow)?.hello?.protocols == ["alpn"])
        }
        #expect(initials.count == 1)
    }
}
