import CausewayTypes
import Testing

@testable import CausewayPackets

@Suite("Building and decoding packets")
struct BuilderTests {
    static let here = IPv4Address("192.168.1.2")!
    static let there = IPv4Address("10.0.0.1")!

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The sample packets of textbooks: an echo, a datagram, a SYN.
    @Test func echoHasTheExpectedBytes() {
        var packet = PacketBuilder()
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .icmp, identification: 0x1234))
        packet.add(.echo(type: 8, identifier: 0x1234, sequence: 1))
        packet.add(payload: Array("Hello from libnet\0".utf8))
        let bytes = packet.finish()
        #expect(bytes.count == 46)
        let expected =
            "4500002e123400004001" + "9bc7" + "c0a801020a000001" + "0800" + "----" + "12340001"
            + "48656c6c6f2066726f6d206c69626e657400"
        let found = Self.hex(bytes)
        #expect(
            found.prefix(20) == expected.prefix(20)
                && found.dropFirst(24).prefix(20) == expected.dropFirst(24).prefix(20))
        #expect(found.dropFirst(48) == expected.dropFirst(48))
        let view = Packet(ByteView(bytes.span), linkType: .raw)
        #expect(view.icmp?.type == 8 && view.icmp?.sequence == 1 && view.ipv4?.timeToLive == 64)
        #expect(view.checksums() == PacketChecksums(network: .good, transport: .good))
        #expect(view.issues.isEmpty)
    }

    @Test("A builder that is used again leaves no bytes of longer packets", arguments: [0, 1, 7, 40])
    func usedAgain(_ count: Int) {
        func make(_ packet: inout PacketBuilder, _ payload: Int) -> [UInt8] {
            packet.reset()
            packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .tcp))
            var header = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .syn)
            header.options = Array(repeating: 1, count: payload % 5)
            packet.add(header)
            if payload > 0 { packet.add(payload: Array(repeating: 9, count: payload)) }
            return packet.finish()
        }
        var (used, fresh) = (PacketBuilder(), PacketBuilder())
        let kept = make(&used, 1000)
        let (again, right) = (make(&used, count), make(&fresh, count))
        #expect(again == right && used.count == fresh.count)
        #expect(kept.count == 1040 && kept.suffix(1000).allSatisfy { $0 == 9 })
        used.reset()
        used.add(payload: [1, 2])
        #expect(used.count == 2)
        let header = IPv4Header(source: Self.here, destination: Self.there, proto: .tcp)
        let isReplaced = used.replace(1, with: header)
        let last = used.finish()
        #expect(!isReplaced && last == [1, 2])
    }

    @Test func datagramIsWhole() {
        var packet = PacketBuilder()
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .udp))
        packet.add(UDPHeader(sourcePort: 4321, destinationPort: 101))
        packet.add(payload: Array("Hello from libnet\0".utf8))
        let bytes = packet.finish()
        let view = Packet(ByteView(bytes.span), linkType: .ipv4)
        #expect(bytes.count == 46)
        #expect(view.udp?.destinationPort == 101 && view.udp?.length == 26)
        #expect(view.checksums() == PacketChecksums(network: .good, transport: .good))
    }

    @Test func synIsWholeAndRebuildsInPlace() {
        var header = TCPHeader(sourcePort: 40000, destinationPort: 80, flags: .syn)
        header.options = [2, 4, 5, 0xB4, 1]
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .ipv4))
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .tcp))
        packet.add(header)
        let first = packet.finish()
        #expect(first.count == 14 + 20 + 28)
        header.destinationPort = 443
        header.flags = [.syn, .ack, .ns]
        let isReplaced = packet.replace(2, with: header)
        #expect(isReplaced)
        let second = packet.finish()
        let view = Packet(ByteView(second.span), linkType: .ethernet)
        #expect(view.tcp?.destinationPort == 443 && view.tcp?.flags == [.syn, .ack, .ns])
        #expect(view.checksums() == PacketChecksums(network: .good, transport: .good))
        let isOtherReplaced = packet.replace(1, with: header)
        #expect(!isOtherReplaced, "a layer of another kind is not replaced")
    }

    @Test("Each flag of an IPv4 header has its own bit beside the fragment offset")
    func flags() throws {
        let flags: [(WritableKeyPath<IPv4Header, Bool>, UInt8)] = [
            (\.reserved, 0x80), (\.dontFragment, 0x40), (\.moreFragments, 0x20),
        ]
        for (flag, bit) in flags {
            var header = IPv4Header(source: Self.here, destination: Self.there, proto: .udp)
            // The offset field has 13 bits. The builder ignores the higher bits of the value.
            header.fragmentOffset = 0xF234
            header[keyPath: flag] = true
            var packet = PacketBuilder()
            packet.add(header)
            let bytes = packet.finish()
            #expect(bytes[6] == bit | 0x12 && bytes[7] == 0x34)
            var read = try IPv4Header(ByteView(bytes.span), at: 0)
            #expect(read[keyPath: flag] && read.fragmentOffset == 0x1234)
            read[keyPath: flag] = false
            #expect(!read.reserved && !read.dontFragment && !read.moreFragments)
        }
    }

    @Test func whatIsSetStays() {
        var header = IPv4Header(source: Self.here, destination: Self.there, proto: .udp)
        header.totalLength = 999
        header.checksum = 0xBEEF
        var datagram = UDPHeader(sourcePort: 1, destinationPort: 2)
        datagram.checksum = 7
        var packet = PacketBuilder()
        packet.add(header)
        packet.add(datagram)
        let bytes = packet.finish()
        #expect(bytes[2] == 0x03 && bytes[3] == 0xE7 && bytes[10] == 0xBE && bytes[27] == 7)
        let view = Packet(ByteView(bytes.span), linkType: .ipv4)
        #expect(view.issues.contains(.badLength))
        #expect(view.checksums().network == .bad)
    }

    @Test(
        "An ICMP header after an IPv6 header has the checksum of ICMPv6 without being told", arguments: [true, false])
    func icmpFollowsTheNetwork(_ isIPv6: Bool) {
        func make(_ version6: Bool?) -> [UInt8] {
            var packet = PacketBuilder()
            if isIPv6 {
                packet.add(
                    IPv6Header(
                        source: IPv6Address("2001:db8::1")!, destination: IPv6Address("2001:db8::2")!,
                        nextHeader: .icmp6))
            } else {
                packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .icmp))
            }
            packet.add(.echo(type: isIPv6 ? 128 : 8, identifier: 5, sequence: 6), version6: version6)
            packet.add(payload: [1, 2, 3])
            return packet.finish()
        }
        let bytes = make(nil)
        #expect(Packet(ByteView(bytes.span), linkType: .raw).checksums().transport == .good)
        #expect(bytes == make(isIPv6))
        #expect(bytes != make(!isIPv6))
    }

    @Test func ipv6WithExtensionHeaders() {
        var packet = PacketBuilder()
        packet.add(
            IPv6Header(
                source: IPv6Address("2001:db8::1")!, destination: IPv6Address("2001:db8::2")!,
                nextHeader: IPProtocolNumber(rawValue: 60)))
        packet.addExtension(next: .icmp6, body: [1, 4, 0, 0, 0, 0])
        packet.add(.echo(type: 128, identifier: 5, sequence: 6), version6: true)
        let bytes = packet.finish()
        let view = Packet(ByteView(bytes.span), linkType: .ipv6)
        #expect(view.icmp?.identifier == 5)
        #expect(view.layers.first(.destinationOptions) != nil)
        #expect(view.checksums().transport == .good)
    }

    @Test func arpIsRead() {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: MACAddress("02:00:00:00:00:01")!, type: .arp))
        packet.add(
            ARPPacket(
                operation: .request, senderHardware: MACAddress("02:00:00:00:00:01")!, senderAddress: Self.here,
                targetAddress: Self.there))
        let bytes = packet.finish() + [UInt8](repeating: 0, count: 18)
        let view = Packet(ByteView(bytes.span), linkType: .ethernet)
        #expect(view.arp?.targetAddress == Self.there && view.arp?.operation == .request)
        #expect(view.layers.payload.isEmpty, "padding is not payload")
    }

    /// If a packet is cut off at any byte, the decoder reports it as truncated. The decoder does not trap.
    @Test func everyCutIsTold() {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: .zero, type: .vlan))
        packet.add(VLANTag(identifier: 5, type: .ipv4))
        packet.add(IPv4Header(source: Self.here, destination: Self.there, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack))
        packet.add(payload: [1, 2, 3, 4])
        let bytes = packet.finish()
        for length in 0..<bytes.count {
            let cut = Array(bytes.prefix(length))
            let view = Packet(ByteView(cut.span), linkType: .ethernet, originalCount: bytes.count)
            #expect(view.issues.contains(.cutOff), "truncated at \(length)")
            #expect(view.checksums().transport != .good)
        }
        let whole = Packet(ByteView(bytes.span), linkType: .ethernet)
        #expect(whole.issues.isEmpty)
    }

    @Test func nameInClientHello() {
        var hello: [UInt8] = [22, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3]
        hello += [UInt8](repeating: 0, count: 32) + [0, 0, 2, 0x13, 1, 1, 0]
        let name = Array("example.com".utf8)
        let list: [UInt8] = [0, UInt8(name.count + 3), 0, 0, UInt8(name.count)] + name
        hello += [0, UInt8(list.count + 4), 0, 0, 0, UInt8(list.count)] + list
        let found = ClientHello(ByteView(hello.span))?.serverName
        #expect(found == "example.com")
        for length in 0..<hello.count { _ = ClientHello(ByteView(hello.span).prefix(length)) }
    }

    /// The example of RFC 1071 §3, and odd lengths.
    @Test func checksumsOfEveryLength() {
        let example: [UInt8] = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]
        let sum = InternetChecksum.of(ByteView(example.span))
        #expect(sum == ~0xDDF2)
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            var sum: UInt32 = 0
            for index in stride(from: 0, to: length, by: 2) {
                sum += UInt32(bytes[index]) << 8 | (index + 1 < length ? UInt32(bytes[index + 1]) : 0)
            }
            while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
            let found = InternetChecksum.of(ByteView(bytes.span))
            #expect(found == ~UInt16(sum), "length \(length)")
        }
    }
}
