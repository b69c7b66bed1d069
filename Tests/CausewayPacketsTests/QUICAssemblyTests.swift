import Testing

@testable import CausewayPackets

/// ClientHello messages in CRYPTO frames. The test cipher does not encrypt, so that the tests choose the frames.
@Suite("ClientHello in CRYPTO frames (RFC 9000 §19.6)")
struct QUICAssemblyTests {
    static let flow = QUICInitialTests.flow
    static let identifier: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    /// A message that does not fit into one datagram, as with post-quantum keys.
    static let message = ClientHelloText.message(
        name: "a.example", protocols: (0..<12).map { "\($0)" + String(repeating: "p", count: 120) })

    /// Returns a variable-length integer of 4 bytes.
    static func integer(_ value: Int) -> [UInt8] {
        [UInt8(value >> 24 | 0x80), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    static func crypto(_ range: Range<Int>, of message: [UInt8] = message) -> [UInt8] {
        [6] + integer(range.lowerBound) + integer(range.count) + message[range]
    }

    /// Returns a QUIC version 1 packet. It is not really encrypted, because the test cipher leaves the bytes unchanged.
    /// `original` is the connection ID from which the keys are derived.
    static func packet(
        _ frames: [UInt8], to identifier: [UInt8] = identifier, keysOf original: [UInt8]? = nil, kind: UInt8 = 0
    ) throws -> [UInt8] {
        let keys = try #require(
            QUICInitialKeys(original ?? identifier, version: QUICPacketPlace.versionOne, .transparent))
        let content = [0] + frames + keys.key
        let token: [UInt8] = kind == 0 ? [0] : []
        let header = [0xC0 | kind << 4, 0, 0, 0, 1, UInt8(identifier.count)] + identifier + [0] + token
        return header + integer(content.count) + content
    }

    static func open(_ datagrams: [[UInt8]]) -> [QUICInitials.Opened?] {
        var initials = QUICInitials(.transparent)
        return datagrams.map { initials.open($0, flow) }
    }

    static func names(_ datagrams: [[UInt8]]) -> [String?] { open(datagrams).map { $0?.hello?.serverName } }

    @Test("A message in two datagrams is complete with the second, in either order")
    func twoDatagrams() throws {
        let end = Self.message.count
        #expect(end > 1_400)
        let parts = [try Self.packet(Self.crypto(0..<1_100)), try Self.packet(Self.crypto(1_100..<end))]
        #expect(Self.names(parts) == [nil, "a.example"])
        #expect(Self.names(parts.reversed()) == [nil, "a.example"])
        #expect(Self.open(parts).allSatisfy { $0 != nil })
        #expect(Self.open(parts).last??.hello?.protocols.count == 12)
    }

    @Test("The line of the datagram that completes the message has the names")
    func lines() throws {
        var options = PacketPrinter.Options()
        (options.time, options.verbosity) = (.none, 1)
        var printer = PacketPrinter(options, initialCipher: .transparent)
        let message = ClientHelloText.message(name: "b.example", protocols: ["h3"])
        var lines: [String] = []
        for range in [0..<50, 50..<message.count] {
            let packet = try Self.packet(Self.crypto(range, of: message) + [UInt8](repeating: 0, count: 1_100))
            let bytes = QUICInitialTests.datagram(packet)
            lines.append(
                String(decoding: printer.line(QUICInitialTests.captured(bytes), ByteView(bytes.span)), as: UTF8.self))
        }
        #expect(lines[0].contains("quic, initial, dcid 0102030405060708, length ") && !lines[0].contains("TLS"))
        #expect(lines[1].hasSuffix(": TLS ClientHello, SNI b.example, ALPN h3\n"))
    }

    @Test("Padding, PING and ACK may stand between CRYPTO frames; other frames end the packet")
    func otherFrames() throws {
        let (first, second) = (Self.crypto(0..<700), Self.crypto(700..<Self.message.count))
        let acknowledgement: [UInt8] = [2, 9, 0, 1, 2, 0, 3]
        let counts: [UInt8] = [3, 9, 0, 0, 2, 1, 2, 3]
        let frames = [0, 1, 0] + second + acknowledgement + [1] + counts + first + [0, 0]
        #expect(Self.names([try Self.packet(frames)]) == ["a.example"])
        // Insert a STREAM frame, or a frame whose type has two bytes. The search for CRYPTO frames ends at such a
        // frame.
        for stop in [[8], [0x40, 0x1C]] as [[UInt8]] {
            #expect(Self.names([try Self.packet(first + stop + second)]) == [nil])
        }
    }

    @Test("Coalesced packets: two Initial packets, and one before 0-RTT or Handshake")
    func coalesced() throws {
        let first = try Self.packet(Self.crypto(0..<700))
        let second = try Self.packet(Self.crypto(700..<Self.message.count))
        #expect(Self.names([first + second]) == ["a.example"])
        let early = try Self.packet([0], kind: 1)
        let handshake = try Self.packet([0], kind: 2)
        #expect(Self.names([first + early + handshake + second]) == ["a.example"])
        #expect(Self.names([first + [0x40] + second, second]) == [nil, "a.example"])
    }

    @Test("Pieces in any order, repeated and overlapping, give the message once", arguments: 0..<60)
    func anyOrder(seed: UInt64) throws {
        var random = Mutations(seed: seed)
        let end = Self.message.count
        var cuts =
            [0, end] + (0..<Int.random(in: 0...20, using: &random)).map { _ in Int.random(in: 1..<end, using: &random) }
        cuts.sort()
        var frames = zip(cuts, cuts.dropFirst()).map { low, high in
            Self.crypto(low..<min(end, high + Int.random(in: 0...30, using: &random)))
        }
        frames.shuffle(using: &random)
        var datagrams: [[UInt8]] = []
        while !frames.isEmpty {
            let count = Int.random(in: 1...frames.count, using: &random)
            datagrams.append(try Self.packet(frames.prefix(count).flatMap { $0 }))
            frames.removeFirst(count)
        }
        let hellos = Self.open(datagrams).compactMap { $0?.hello }
        #expect(hellos == [ClientHello(message: ByteView(Self.message.span))])
    }

    @Test("Of overlapping pieces with different bytes, the first counts")
    func conflict() throws {
        let message = ClientHelloText.message(name: "first.example", protocols: [])
        var other = message
        for index in other.indices { other[index] ^= 0x55 }
        let end = message.count
        let frames =
            Self.crypto(end - 20..<end, of: message) + Self.crypto(0..<4, of: message)
            + Self.crypto(end - 30..<end, of: message) + Self.crypto(end - 25..<end, of: other)
            + Self.crypto(2..<4, of: other) + Self.crypto(4..<end - 30, of: message)
        #expect(Self.names([try Self.packet(frames)]) == ["first.example"])
    }

    @Test("After the server's answer, the client's packets keep their keys; a Retry changes them")
    func laterIdentifier() throws {
        let first = try Self.packet(Self.crypto(0..<1_100))
        let rest = Self.crypto(1_100..<Self.message.count)
        let later = try Self.packet(rest, to: [9, 9, 9, 9], keysOf: Self.identifier)
        #expect(Self.names([first, later]) == [nil, "a.example"])
        #expect(Self.open([later]) == [nil])
        // After a Retry, the client sends its message again from the start. The keys then come from another connection
        // ID.
        let again = [UInt8](repeating: 5, count: 8)
        let whole = try Self.packet(Self.crypto(0..<Self.message.count), to: again)
        #expect(Self.names([first, whole]) == [nil, "a.example"])
        #expect(Self.names([first, try Self.packet(rest, to: again)]) == [nil, nil])
    }

    @Test("Identifiers shorter than 8 bytes or longer than 20 begin no connection", arguments: [0, 7, 8, 20, 21])
    func identifierLength(count: Int) throws {
        let packet = try Self.packet(
            Self.crypto(0..<Self.message.count), to: [UInt8](repeating: 3, count: count))
        #expect(Self.names([packet]) == [(8...20).contains(count) ? "a.example" : nil])
    }

    @Test("Lengths beyond the packet and endless ACK ranges end the frames")
    func malformed() throws {
        let whole = Self.crypto(0..<Self.message.count)
        let beyond: [UInt8] = [6] + Self.integer(0) + Self.integer(50) + [1]
        let ranges: [UInt8] = [2, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [0, 0]
        let far: [UInt8] = [6] + [UInt8](repeating: 0xFF, count: 8) + [1, 7]
        for frames in [beyond, ranges, [6], [6, 0x40]] {
            #expect(Self.open([try Self.packet(frames + whole.prefix(3))]) == [QUICInitials.Opened()])
        }
        #expect(Self.names([try Self.packet(far + whole)]) == ["a.example"])
        var packet = try Self.packet(whole)
        packet[18] += 1
        #expect(Self.open([packet]) == [nil])
    }

    @Test("A message beyond the limit, or in too many pieces, is never complete, and the next one is found")
    func limits() throws {
        let limit = CryptoAssembly.messageLimit
        var large = Self.message
        large[1] = 0xFF
        #expect(Self.names([try Self.packet(Self.crypto(0..<large.count, of: large))]) == [nil])
        let beyond: [UInt8] = [6] + Self.integer(limit) + [1, 7]
        #expect(Self.names([try Self.packet(beyond + Self.crypto(0..<Self.message.count))]) == ["a.example"])
        var assembly = CryptoAssembly()
        let pieces = (0..<CryptoAssembly.pieceLimit).flatMap { Self.crypto($0 * 2 + 8..<$0 * 2 + 9) }
        assembly.add(pieces)
        let start = Self.crypto(0..<4)
        assembly.add(start)
        #expect(assembly.takeMessage() == nil)
        let whole = Self.crypto(0..<Self.message.count)
        assembly.add(whole)
        #expect(assembly.takeMessage() == Self.message)
        #expect(assembly.takeMessage() == nil)
    }

    @Test("Another message than a ClientHello has no names")
    func otherMessage() throws {
        let message: [UInt8] = [2, 0, 0, 1, 0]
        #expect(Self.open([try Self.packet(Self.crypto(0..<5, of: message))]) == [QUICInitials.Opened()])
    }

    @Test("The number of connections is limited")
    func connectionLimit() throws {
        var initials = QUICInitials(.transparent)
        let packet = try Self.packet([1, 0, 0])
        for number in 0..<QUICInitials.connectionLimit + 10 {
            let flow = QUICInitials.Flow(sourceLow: UInt64(number), sourcePort: 1, destinationPort: 443)
            #expect(initials.open(packet, flow) != nil)
            #expect(initials.count <= QUICInitials.connectionLimit)
        }
        #expect(initials.count == 10)
    }

    @Test("Damaged datagrams never trap, and leave the limits", arguments: 0..<40)
    func damage(seed: UInt64) throws {
        var random = Mutations(seed: seed)
        let cipher = QUICInitialCipher(
            authenticate: QUICInitialCipher.transparent.authenticate,
            encryptBlock: QUICInitialCipher.transparent.encryptBlock,
            open: { _, _, _, sealed in Array(sealed.dropLast(16)) })
        var initials = QUICInitials(cipher)
        let end = Self.message.count
        let parts = [
            try Self.packet(Self.crypto(0..<700) + [2, 9, 0, 1, 2, 0, 3] + Self.crypto(900..<1_000)),
            try Self.packet(Self.crypto(700..<end) + [0, 1]) + Self.packet([0], kind: 1),
            QUICVectors.versionTwo,
        ]
        for _ in 0..<100 {
            let bytes = MutationTests.mutated(parts.randomElement(using: &random) ?? [], &random)
            let flow = QUICInitials.Flow(sourcePort: UInt16.random(in: 0..<4, using: &random), destinationPort: 443)
            _ = initials.open(bytes, flow)
            #expect(initials.count <= 4)
        }
    }
}
