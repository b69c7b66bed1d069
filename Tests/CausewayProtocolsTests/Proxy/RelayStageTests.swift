import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Datagrams through a SOCKS 5 proxy (RFC 1928 §7)")
struct RelayStageTests {
    private static let address = TunnelDestination(.address(.ipv4(IPv4Address(bits: 0xC000_0207))), port: 53)
    private static let name = TunnelDestination(.name("inner.test"), port: 53)

    private static func open(_ destination: TunnelDestination = address) -> RelayStage {
        var stage = RelayStage(to: destination)
        stage.start(at: .zero)
        return stage
    }

    private static func delivered(_ datagram: [UInt8], to destination: TunnelDestination = address) -> [[UInt8]] {
        var stage = open(destination)
        stage.receive(MessageChunk(datagram), at: .zero)
        var all: [[UInt8]] = []
        while let chunk = stage.nextInbound(atMost: .max) { all.append(chunk.bytes.bytes) }
        return all
    }

    @Test("Each datagram gets one header, before its first part")
    func outbound() {
        var stage = Self.open()
        #expect(stage.status == .ready)
        for (text, endsMessage) in [("one", true), ("t", false), ("wo", true), ("", true)] {
            let isTaken = stage.send(MessageChunk(Array(text.utf8), endsMessage: endsMessage), at: .zero)
            #expect(isTaken)
        }
        // End the sending direction. This sends no datagram.
        let isTaken = stage.send(.end, at: .zero)
        #expect(isTaken)
        var datagrams: [[UInt8]] = [[]]
        while let chunk = stage.nextOutbound(atMost: .max) {
            datagrams[datagrams.count - 1] += chunk.bytes.bytes
            if chunk.endsMessage { datagrams.append([]) }
        }
        let header: [UInt8] = [0, 0, 0, 1, 192, 0, 2, 7, 0, 53]
        #expect(datagrams == [header + Array("one".utf8), header + Array("two".utf8), header, []])
        #expect(RelayStage.headerByteCount(to: Self.address) == header.count)
    }

    @Test("A name is passed to the proxy unchanged, an IPv6 address as sixteen bytes")
    func places() {
        let address = TunnelDestination(.address(.ipv6(IPv6Address(high: 0x2001_0DB8 << 32, low: 9))), port: 258)
        let rows: [(TunnelDestination, [UInt8])] = [
            (Self.name, [3, 10] + Array("inner.test".utf8) + [0, 53]),
            (address, [4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 2]),
        ]
        for (destination, bytes) in rows {
            #expect(destination.socksBytes == bytes)
            #expect(TunnelDestination(socksBytes: bytes[...]) == destination)
            for count in 0..<bytes.count { #expect(TunnelDestination(socksBytes: bytes.prefix(count)) == nil) }
        }
        #expect(
            Self.open(.init(.name(String(repeating: "a", count: 256)), port: 1)).status == .failed(.init(.dns, -65_540))
        )
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var header: [UInt8]
        var isDelivered: Bool
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 7]

    @Test(
        "Received datagrams",
        arguments: [
            Row(testDescription: "from the destination", header: [0, 0, 0, 1, 192, 0, 2, 7, 0, 53], isDelivered: true),
            Row(testDescription: "zeros for the source", header: [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], isDelivered: true),
            Row(testDescription: "mapped", header: [0, 0, 0, 4] + mapped + [0, 53], isDelivered: true),
            Row(testDescription: "a name", header: [0, 0, 0, 3, 1, 0x61, 0, 53], isDelivered: true),
            Row(testDescription: "another host", header: [0, 0, 0, 1, 192, 0, 2, 8, 0, 53], isDelivered: false),
            Row(testDescription: "another port", header: [0, 0, 0, 1, 192, 0, 2, 7, 0, 54], isDelivered: false),
            Row(testDescription: "a fragment", header: [0, 0, 1, 1, 192, 0, 2, 7, 0, 53], isDelivered: false),
            Row(testDescription: "the last fragment", header: [0, 0, 128, 1, 192, 0, 2, 7, 0, 53], isDelivered: false),
            Row(testDescription: "an unknown kind", header: [0, 0, 0, 2, 192, 0, 2, 7, 0, 53], isDelivered: false),
        ])
    func inbound(_ row: Row) {
        #expect(Self.delivered(row.header + Array("hello".utf8)) == (row.isDelivered ? [Array("hello".utf8)] : []))
        #expect(Self.delivered(row.header) == (row.isDelivered ? [[]] : []))
    }

    @Test("For a name, any source address is accepted, but not any port")
    func inboundForName() {
        #expect(Self.delivered([0, 0, 0, 1, 10, 0, 0, 1, 0, 53, 7], to: Self.name) == [[7]])
        #expect(Self.delivered([0, 0, 0, 1, 10, 0, 0, 1, 0, 54, 7], to: Self.name).isEmpty)
    }

    @Test("A truncated header is dropped, without a trap", arguments: 0..<300)
    func truncated(seed: Int) {
        let whole: [UInt8] = [0, 0, 0, 3, 255] + [UInt8](repeating: 0x61, count: 255) + [0, 53]
        #expect(Self.delivered(Array(whole.prefix(min(seed, whole.count - 1)))).isEmpty)
        var random = SystemRandomNumberGenerator()
        let noise = (0..<seed).map { _ in UInt8.random(in: 0...5, using: &random) }
        _ = Self.delivered(noise, to: Self.name)
    }

    @Test("A datagram in parts is one datagram, up to the maximum size")
    func pieces() {
        var stage = Self.open()
        for byte in [0, 0, 0, 1, 192, 0, 2, 7, 0, 53, 1, 2] as [UInt8] {
            stage.receive(MessageChunk([byte], endsMessage: false), at: .zero)
        }
        stage.receive(MessageChunk([3]), at: .zero)
        #expect(stage.nextInbound(atMost: .max)?.bytes.bytes == [1, 2, 3])
        for _ in 0..<3 {
            stage.receive(MessageChunk([UInt8](repeating: 0, count: 60_000), endsMessage: false), at: .zero)
        }
        stage.receive(MessageChunk([3]), at: .zero)
        #expect(stage.nextInbound(atMost: .max) == nil)
        stage.receive(MessageChunk([0, 0, 0, 1, 192, 0, 2, 7, 0, 53, 9]), at: .zero)
        #expect(stage.nextInbound(atMost: .max)?.bytes.bytes == [9])
    }

    @Test("Datagrams without content that are not taken use up the room")
    func roomForEmptyDatagrams() {
        var stage = Self.open()
        var count = 0
        while stage.inboundRoom > 0, count < 10_000 {
            stage.receive(MessageChunk([0, 0, 0, 1, 192, 0, 2, 7, 0, 53]), at: .zero)
            count += 1
        }
        #expect(count == 1024)
        #expect(stage.nextInbound(atMost: .max) != nil)
        #expect(stage.inboundRoom > 0)
    }

    @Test("After closing, the stage accepts nothing, and accepted datagrams are still sent")
    func closing() {
        var stage = Self.open()
        let isTaken = stage.send(MessageChunk([1]), at: .zero)
        #expect(isTaken)
        stage.close(at: .zero)
        let isRefused = !stage.send(MessageChunk([2]), at: .zero)
        #expect(isRefused)
        #expect(stage.status == .ready)
        while stage.nextOutbound(atMost: .max) != nil {}
        #expect(stage.status == .closed)
        stage.receive(MessageChunk([0, 0, 0, 1, 192, 0, 2, 7, 0, 53, 9]), at: .zero)
        #expect(stage.nextInbound(atMost: .max) == nil)
        var unstarted = RelayStage(to: TunnelDestination(.name("a.test"), port: 53))
        unstarted.close(at: .zero)
        unstarted.start(at: .zero)
        #expect(unstarted.status == .closed)
    }

    // MARK: Association

    private static func associate(
        _ replies: [[UInt8]], isIPv6: Bool = false, credential: TunnelCredential? = nil
    ) -> (said: [[UInt8]], step: TunnelStep, bound: TunnelDestination?) {
        var handshake = SOCKSHandshake(associatingOverIPv6: isIPv6, credential: credential)
        var said = [handshake.greeting]
        var words = ByteChain()
        var step = TunnelStep.wait
        for byte in replies.joined() {
            words.append([byte])
            step = handshake.received(&words)
            if case .send(let bytes) = step { said.append(bytes) }
            if case .failed = step { break }
        }
        return (said, step, handshake.bound)
    }

    @Test("The association request has an address of zeros, and the relay's address comes from the reply")
    func association() {
        let four = Self.associate([[5, 0], [5, 0, 0, 1, 192, 0, 2, 1, 4, 1]])
        #expect(four.said == [[5, 1, 0], [5, 3, 0, 1, 0, 0, 0, 0, 0, 0]])
        #expect(four.step == .open)
        #expect(four.bound == TunnelDestination(.address(.ipv4(IPv4Address(bits: 0xC000_0201))), port: 1_025))
        let six = Self.associate(
            [[5, 2], [1, 0], [5, 0, 0, 3, 1, 0x61, 4, 1]], isIPv6: true, credential: .init(username: "u", password: "p")
        )
        #expect(six.said[2] == [5, 3, 0, 4] + [UInt8](repeating: 0, count: 18))
        #expect(six.bound == TunnelDestination(.name("a"), port: 1_025))
    }

    @Test("A proxy without a relay is reported; a name too long for a host is refused")
    func refusedAssociation() {
        #expect(Self.associate([[5, 0], [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]]).step == .failed(.tunnelUnsupported))
        #expect(Self.associate([[5, 0], [5, 2, 0, 1, 0, 0, 0, 0, 0, 0]]).step == .failed(.tunnelDenied))
        #expect(Self.associate([[5, 0], [5, 0, 0, 3, 2, 0xFF, 0xFE, 4, 1]]).bound == nil)
    }
}
