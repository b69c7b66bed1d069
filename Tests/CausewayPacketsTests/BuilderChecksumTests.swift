import CausewayTypes
import Testing

@testable import CausewayPackets

/// Tests checksums that the builder computes from the sums of parts. For any parts, the result must equal the checksum
/// of all bytes together.
@Suite("Checksums of built packets")
struct BuilderChecksumTests {
    static let here = IPv4Address("192.168.1.2")!
    static let there = IPv4Address("10.0.0.1")!

    /// Computes the sum word by word, as in RFC 1071 §1.
    static func sum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum: UInt32 = 0
        for (place, byte) in bytes.enumerated() { sum += UInt32(byte) << (place % 2 == 0 ? 8 : 0) }
        return sum
    }

    static func checksum(_ parts: [UInt32]) -> UInt16 {
        var sum = parts.reduce(0, +)
        while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    static func word(_ bytes: [UInt8], _ place: Int) -> UInt16 {
        UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }

    /// Returns the expected checksum of a layer. The layer begins at `start`, its checksum field at `place`, and the
    /// packet's IP header at `network`.
    static func expected(_ bytes: [UInt8], _ start: Int, _ place: Int, _ number: UInt32, _ network: Int) -> UInt16 {
        var cleared = bytes
        (cleared[place], cleared[place + 1]) = (0, 0)
        let addresses = sum(cleared[network + 12..<network + 20])
        return checksum([sum(cleared[start...]), addresses, number, UInt32(bytes.count - start)])
    }

    static func payload(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) } }

    @Test("Payloads of any length", arguments: Array(0...70) + [127, 128, 129, 1000, 1001, 1460])
    func payloads(_ count: Int) {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 4000, destinationPort: 80, flags: .syn))
        packet.add(payload: Self.payload(count))
        for _ in 0..<2 {
            let bytes = packet.finish()
            #expect(Self.word(bytes, 50) == Self.expected(bytes, 34, 50, 6, 14))
            var header = Array(bytes[14..<34])
            (header[10], header[11]) = (0, 0)
            #expect(Self.word(bytes, 24) == Self.checksum([Self.sum(header[...])]))
            #expect(Self.word(bytes, 16) == UInt16(40 + count))
        }
    }

    @Test("Nested layers after an odd number of bytes", arguments: [0, 1, 2, 7])
    func nested(_ odd: Int) {
        var packet = PacketBuilder()
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .udp))
        packet.add(UDPHeader(sourcePort: 1, destinationPort: 2))
        packet.add(payload: Self.payload(odd))
        packet.add(IPv4Header(source: Self.there, destination: Self.here, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 4000, destinationPort: 80, flags: .syn))
        packet.add(payload: Self.payload(33))
        let bytes = packet.finish()
        let inner = 28 + odd
        #expect(Self.word(bytes, inner + 36) == Self.expected(bytes, inner + 20, inner + 36, 6, inner))
        #expect(Self.word(bytes, 26) == Self.expected(bytes, 20, 26, 17, 0))
        #expect(Self.word(bytes, 24) == UInt16(bytes.count - 20))
    }

    @Test func headersAndPayloadsInPlace() {
        func make(_ port: UInt16, _ byte: UInt8, _ address: IPv4Address, options: [UInt8]) -> PacketBuilder {
            var packet = PacketBuilder()
            packet.add(IPv4Header(source: Self.here, destination: address, proto: .tcp, identification: port))
            var header = TCPHeader(sourcePort: 1, destinationPort: port, flags: .syn)
            header.options = options
            packet.add(header)
            packet.add(payload: [UInt8](repeating: byte, count: 101))
            return packet
        }
        for options in [[], [1, 1, 1, 0]] as [[UInt8]] {
            var packet = make(80, 7, Self.there, options: options)
            _ = packet.finish()
            var other = make(443, 9, Self.here, options: options)
            var segment = TCPHeader(sourcePort: 1, destinationPort: 443, flags: .syn)
            segment.options = options
            let address = IPv4Header(
                source: Self.here, destination: Self.here, proto: .tcp, identification: 443)
            let payload = [UInt8](repeating: 9, count: 101)
            let isReplaced = [
                packet.replace(0, with: address), packet.replace(1, with: segment), packet.replace(2, with: payload),
            ]
            #expect(isReplaced == [true, true, true])
            let (bytes, right) = (packet.finish(), other.finish())
            #expect(bytes == right)
            let isOther = [
                packet.replace(2, with: [1]), packet.replace(3, with: payload), packet.replace(-1, with: payload),
                packet.replace(1, with: address),
            ]
            let unchanged = packet.finish()
            #expect(isOther == [false, false, false, false] && unchanged == right)
        }
    }

    /// Tests a header that replaces another one. The old header has a fixed checksum, and the new one leaves its
    /// checksum `nil`. The computed checksum must then cover the bytes that are already in the packet.
    @Test func filledInLater() {
        var packet = PacketBuilder()
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .tcp))
        var segment = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack)
        segment.checksum = 0x1234
        packet.add(segment)
        packet.add(payload: Self.payload(9))
        let given = packet.finish()
        #expect(Self.word(given, 36) == 0x1234)
        segment.checksum = nil
        let isReplaced = packet.replace(1, with: segment)
        let bytes = packet.finish()
        #expect(isReplaced && Self.word(bytes, 36) == Self.expected(bytes, 20, 36, 6, 0))
    }

    /// A packet with more layers than the builder stores without an allocation.
    @Test func manyLayers() {
        var packet = PacketBuilder()
        for _ in 0..<6 {
            packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .udp))
            packet.add(UDPHeader(sourcePort: 1, destinationPort: 2))
        }
        packet.add(payload: Self.payload(5))
        let bytes = packet.finish()
        for layer in 0..<6 {
            let start = layer * 28
            #expect(Self.word(bytes, start + 2) == UInt16(bytes.count - start))
            #expect(Self.word(bytes, start + 26) == Self.expected(bytes, start + 20, start + 26, 17, start))
        }
    }
}
