import CausewayProtocols
import CausewayWire
import Testing

@testable import Causeway

@Suite("WebSocket: compressed messages (RFC 7692)")
struct MessageCompressionTests {
    private static let hello = Array("Hello".utf8)
    private static let text = Array(String(repeating: "{\"name\": \"value\", \"number\": 17}, ", count: 500).utf8)

    /// Returns bytes that do not compress.
    private static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    // MARK: Vectors

    private static let vectors: [(name: String, frames: [UInt8], messages: Int)] = [
        ("§7.2.3.1, one block", [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0], 1),
        ("§7.2.3.1, two fragments", [0x41, 3, 0xF2, 0x48, 0xCD, 0x80, 4, 0xC9, 0xC9, 7, 0], 1),
        ("§7.2.3.2, a shared window", [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0xC1, 5, 0xF2, 0, 0x11, 0, 0], 2),
        (
            "§7.2.3.2, the same bytes again",
            [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0], 2
        ),
        ("§7.2.3.3, a stored block", [0xC1, 0x0B, 0, 5, 0, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0], 1),
        ("§7.2.3.4, a final block", [0xC1, 8, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0], 1),
        (
            "§7.2.3.4, the window after a final block",
            [0xC1, 8, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0, 0xC1, 5, 0xF2, 0, 0x11, 0, 0], 2
        ),
        ("§7.2.3.5, two blocks", [0xC1, 0x0D, 0xF2, 0x48, 5, 0, 0, 0, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 7, 0], 1),
        ("not compressed", [0x81, 5] + hello, 1),
    ]

    @Test("The examples of RFC 7692 are decompressed", arguments: vectors, [1, 2, Int.max])
    func examples(_ vector: (name: String, frames: [UInt8], messages: Int), _ piece: Int) {
        var side = CompressedSide(isServer: false)
        side.receive(vector.frames, piece: piece)
        #expect(side.messages == Array(repeating: Self.hello, count: vector.messages), "\(vector.name)")
        #expect(!side.hasEnded)
    }

    @Test("Sent messages are those of the examples")
    func sent() {
        var side = CompressedSide(isServer: true)
        #expect(side.send(.text, Self.hello) == [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0])
        #expect(side.send(.text, Self.hello) == [0xC1, 5, 0xF2, 0, 0x11, 0, 0])
        var other = CompressedSide(isServer: true, "permessage-deflate; server_no_context_takeover")
        for _ in 0..<2 { #expect(other.send(.text, Self.hello) == [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0]) }
    }

    @Test("Empty messages: one byte (§7.2.3.6), two empty fragments, and without compression")
    func empty() {
        for frames: [UInt8] in [[0xC1, 1, 0], [0x41, 0, 0x80, 1, 0], [0x41, 1, 0, 0x80, 0], [0x81, 0]] {
            var side = CompressedSide(isServer: false)
            side.receive(frames)
            #expect(side.messages == [[]] && !side.hasEnded, "\(frames)")
        }
        var (server, client) = (CompressedSide(isServer: true), CompressedSide(isServer: false))
        for message in [[], Self.hello, [], Self.hello] { client.receive(server.send(.text, message)) }
        client.receive(server.send(.text, [], []))
        client.receive(server.send(.text, [], Self.hello, []))
        #expect(client.messages == [[], Self.hello, [], Self.hello, [], Self.hello])
    }

    // MARK: Both directions

    private static let agreements = [
        "permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits=8; client_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=9; client_max_window_bits=12",
        "permessage-deflate; server_max_window_bits=15; client_no_context_takeover; client_max_window_bits=10",
    ]

    @Test("Messages of many sizes arrive", arguments: agreements, [false, true])
    func roundTrip(_ agreement: String, _ serverSends: Bool) {
        var sender = CompressedSide(isServer: serverSends, agreement) { $0.fragmentSize = serverSends ? 1_000 : 0 }
        var receiver = CompressedSide(isServer: !serverSends, agreement)
        let messages = [Self.hello, Self.text, [], Self.noise(70_000), Self.text, Self.noise(300), Self.text, [7]]
        var sent: [UInt8] = []
        for message in messages { sent += sender.send(.binary, message) }
        receiver.receive(sent, piece: 777)
        #expect(receiver.messages == messages)
        #expect(receiver.failure == nil)
        #expect(sent.count < 70_000 + 12_000)
    }

    @Test(
        "Messages that fill the room of the decompressor exactly",
        arguments: [512, 1_024, 65_535, 65_536, 131_072, 1 << 20])
    func exact(_ size: Int) {
        for agreement in Self.agreements.prefix(2) {
            var sender = CompressedSide(isServer: true, agreement)
            var receiver = CompressedSide(isServer: false, agreement) { $0.maximumMessageSize = size }
            for _ in 0..<2 { receiver.receive(sender.send(.binary, [UInt8](repeating: 97, count: size))) }
            #expect(receiver.messages.map(\.count) == [size, size] && receiver.failure == nil)
        }
    }

    @Test("Long messages are sent in several frames; only the first one has the reserved bit")
    func long() {
        var (client, server) = (CompressedSide(isServer: false), CompressedSide(isServer: true))
        let message = Self.noise(600_000) + [UInt8](repeating: 5, count: 3_000_000)
        let sent = client.send(.binary, message)
        let found = headers(sent)
        #expect(found.count > 2)
        #expect(found.map(\.isCompressed) == [true] + Array(repeating: false, count: found.count - 1))
        #expect(found.map(\.isFinal) == Array(repeating: false, count: found.count - 1) + [true])
        server.receive(sent, piece: 5_000)
        let isEqual = server.messages == [message]
        #expect(isEqual)
        #expect(server.largestPart <= 64 << 10)
    }

    @Test("The parts of a message share the reserved bit of the first one, and control frames are not compressed")
    func parts() {
        var (server, client) = (CompressedSide(isServer: true), CompressedSide(isServer: false))
        server.machine.send(.text, ByteChain(Self.hello), endsMessage: false)
        server.machine.sendPing([1, 2, 3])
        server.machine.send(.text, ByteChain(Self.text))
        let sent = server.output()
        #expect(headers(sent).map(\.isCompressed) == [true, false, false])
        client.receive(sent)
        #expect(client.messages == [Self.hello + Self.text] && client.controls == ["ping 3"])
        server.machine.close(WebSocketClosing(code: .goingAway, reason: "no more"))
        let closing = server.output()
        #expect(headers(closing).map(\.isCompressed) == [false])
        client.receive(closing)
        #expect(client.controls == ["ping 3", "closed 1001"])
    }

    @Test("A close frame in the middle of a message, on both sides")
    func closeInside() {
        var (server, client) = (CompressedSide(isServer: true), CompressedSide(isServer: false))
        server.machine.send(.binary, ByteChain(Self.text), endsMessage: false)
        client.receive(server.output())
        server.machine.send(.binary, ByteChain(Self.noise(100_000)), endsMessage: false)
        server.machine.close(WebSocketClosing(code: .normalClosure))
        client.receive(server.output())
        server.receive(client.output())
        client.receiveEnd()
        #expect(client.messages.isEmpty && client.controls == ["closed 1000"])
        #expect(client.hasEnded && client.failure == nil && server.hasEnded && server.failure == nil)
    }

    // MARK: Violations

    @Test(
        "The reserved bit is refused without negotiation, in continuations and in control frames",
        arguments: [
            ([0xC1, 1, 0], false), ([0x41, 1, 0, 0xC0, 1, 0], true), ([0x01, 1, 0x61, 0xC0, 1, 0], true),
            ([0xC9, 0], true),
            ([0xC8, 0], true), ([0xE1, 1, 0], true), ([0xD1, 1, 0], true),
        ] as [([UInt8], Bool)])
    func reservedBit(_ frames: [UInt8], _ isNegotiated: Bool) {
        var side = CompressedSide(isServer: false, isNegotiated ? MessageDeflate.name : nil)
        side.receive(frames)
        #expect(side.failure == .protocolError("reserved bits"))
        #expect(Array(side.output().prefix(2)) == [0x88, 0x82])
    }

    @Test(
        "Damaged and incomplete data end the connection",
        arguments: [
            [0xC2, 2, 0xFF, 0xFF], [0xC2, 6, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7], [0xC2, 5, 0xF2, 0, 0x11, 0, 0],
            [0xC2, 0], [0xC2, 7, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 7, 0],
        ] as [[UInt8]], [1, Int.max])
    func damaged(_ frames: [UInt8], _ piece: Int) {
        var side = CompressedSide(isServer: false)
        side.receive(frames, piece: piece)
        guard case .protocolError(let text) = side.failure else {
            Issue.record("\(frames): \(String(describing: side.failure)), \(side.messages)")
            return
        }
        #expect(text.hasPrefix("compressed data"))
        #expect(side.messages.isEmpty)
    }

    @Test("Without context takeover a message cannot refer to the one before")
    func forgotten() {
        var side = CompressedSide(isServer: false, "permessage-deflate; server_no_context_takeover")
        side.receive([0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0])
        #expect(side.messages == [Self.hello])
        side.receive([0xC1, 5, 0xF2, 0, 0x11, 0, 0])
        #expect(side.failure == .protocolError("compressed data: invalid distance too far back"))
    }

    @Test("Decompressed text must be UTF-8")
    func badText() {
        var (server, client) = (CompressedSide(isServer: true), CompressedSide(isServer: false))
        client.receive(server.send(.text, [0x61, 0xC3, 0x28]))
        #expect(client.failure == .invalidText && client.messages.isEmpty)
    }

    // MARK: Limits

    @Test("A message is limited after decompression; one of that size arrives")
    func limit() {
        for (size, isAccepted) in [(1_000, true), (1_001, false), (1 << 20, false)] {
            var sender = CompressedSide(isServer: true)
            var receiver = CompressedSide(isServer: false) { $0.maximumMessageSize = 1_000 }
            let sent = sender.send(.binary, [UInt8](repeating: 0, count: size))
            receiver.receive(sent)
            #expect(receiver.messages.count == (isAccepted ? 1 : 0))
            #expect(receiver.failure == (isAccepted ? nil : .messageTooBig))
            #expect(receiver.largestPart <= 1_000)
            // The message was too long. The receiver must send a close frame with code 1009.
            guard !isAccepted, let frame = Optional(receiver.output()), frame.count == 8 else { continue }
            #expect(frame[6] ^ frame[2] == 0x03 && frame[7] ^ frame[3] == 0xF1)
        }
        // The size limit applies to the decompressed message. If the data cannot be compressed, the sent message can be
        // larger than this limit.
        var sender = CompressedSide(isServer: true)
        var receiver = CompressedSide(isServer: false) { $0.maximumMessageSize = 300 }
        let sent = sender.send(.binary, Self.noise(300))
        #expect(sent.count > 304)
        receiver.receive(sent)
        #expect(receiver.messages.count == 1)
    }

    @Test("A bomb without limit is delivered in parts, and only as far as the owner takes them")
    func bomb() {
        var sender = CompressedSide(isServer: true)
        let sent = sender.send(.binary, [UInt8](repeating: 0, count: 50 << 20))
        #expect(sent.count < 60_000)
        var receiver = CompressedSide(isServer: false)
        receiver.machine.received(ByteChain(sent))
        var count = 0
        for _ in 0..<10 {
            guard case .content(_, let part, false) = receiver.machine.nextEvent() else { break }
            #expect(part.count <= 64 << 10)
            count += part.count
        }
        #expect(count == 10 * 64 << 10)
        #expect(receiver.machine.inputRoom > 0)
    }

    // MARK: Handshake

    @Test("Both sides agree, or one of them declines", arguments: [true, false], [true, false])
    func agreement(_ isOffered: Bool, _ isAccepted: Bool) throws {
        let wanted = NWProtocolWebSocket.Compression()
        var client = CompressedSide(
            .client(UpgradeRequest(authority: "h")), isOffered ? try wanted.plan(isServer: false) : nil)
        var server = CompressedSide(.server, isAccepted ? try wanted.plan(isServer: true) : nil)
        server.receive(client.output())
        client.receive(server.output())
        let sent = client.send(.text, Self.text)
        server.receive(sent)
        #expect(server.messages == [Self.text])
        #expect((sent.count < 1_000) == (isOffered && isAccepted))
        client.receive(server.send(.text, Self.hello))
        #expect(client.messages == [Self.hello])
    }

    @Test("Required compression: the server refuses with status 400, the client closes with the code 1010")
    func required() throws {
        var wanted = NWProtocolWebSocket.Compression()
        wanted.isRequired = true
        var client = CompressedSide(.client(UpgradeRequest(authority: "h")), nil)
        var server = CompressedSide(.server, try wanted.plan(isServer: true))
        server.receive(client.output())
        #expect(server.failure == .handshake(.missingExtension))
        #expect(String(decoding: server.output(), as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
        client = CompressedSide(.client(UpgradeRequest(authority: "h")), try wanted.plan(isServer: false))
        server = CompressedSide(.server, nil)
        server.receive(client.output())
        client.receive(server.output())
        #expect(client.failure == .handshake(.missingExtension))
        server.receive(client.output())
        #expect(server.controls == ["closed 1010"])
    }

    @Test("Without zlib compression is not offered, and required compression fails")
    func missing() throws {
        var wanted = NWProtocolWebSocket.Compression()
        #expect(try wanted.plan(isServer: false, isAvailable: false) == nil)
        wanted.isRequired = true
        #expect(throws: NWError.posix(.ENOTSUP)) { try wanted.plan(isServer: true, isAvailable: false) }
    }

    @Test(
        "Settings as parameters",
        arguments: [
            (true, 15, "permessage-deflate; client_max_window_bits", "permessage-deflate"),
            (
                false, 15,
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            ),
            (
                true, 3, "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9",
                "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9"
            ),
        ])
    func settings(_ takesOver: Bool, _ bits: Int, _ offer: String, _ restrictions: String) throws {
        var wanted = NWProtocolWebSocket.Compression()
        wanted.usesContextTakeover = takesOver
        wanted.maximumWindowBits = bits
        #expect(try wanted.plan(isServer: false)?.parameters.serialized == offer)
        #expect(try wanted.plan(isServer: true)?.parameters.serialized == restrictions)
    }
}
