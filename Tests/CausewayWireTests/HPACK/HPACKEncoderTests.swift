import Testing

@testable import CausewayWire

@Suite("HPACK encoder (RFC 7541)")
struct HPACKEncoderTests {
    private func encode(_ encoder: inout HPACKEncoder, _ fields: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        encoder.beginBlock(&bytes)
        for (name, value) in fields { encoder.append(name, value, to: &bytes) }
        return bytes
    }

    // RFC 7541 §2.3.1, §2.3.2, §A, §6.1, §6.2.1.
    @Test("Indexed fields of both tables, with the bytes of RFC 7541 §C.4")
    func indexes() {
        var encoder = HPACKEncoder()
        let first = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")]
        #expect(encode(&encoder, first) == bytes(hex: "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"))
        #expect(
            encode(&encoder, first + [("cache-control", "no-cache")])
                == bytes(hex: "8286 84be 5886 a8eb 1064 9cbf"))
        #expect(encoder.tableSize == 110)
    }

    // Header fields that are never indexed: RFC 7541 §6.2.3.
    @Test(
        "Credentials are never indexed (RFC 7541 §7.1.3)",
        arguments: [
            ("authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("Proxy-Authorization", "Basic YTpi"),
            ("cookie", "id=1"), ("set-cookie", "id=31d4d96e407aad42; Secure"),
        ])
    func protects(name: String, value: String) throws {
        var encoder = HPACKEncoder()
        for _ in 0..<2 {
            let block = encode(&encoder, [(name, value)])
            #expect(block[0] & 0xF0 == 0x10)
            #expect(encoder.tableCount == 0)
        }
    }

    @Test("Fields with values that change do not enter the table", arguments: [":path", "content-length", "etag"])
    func excludes(name: String) {
        var encoder = HPACKEncoder()
        let block = encode(&encoder, [(name, "1234")])
        #expect(block[0] & 0xF0 == 0 && encoder.tableCount == 0)
    }

    @Test("Names are written in lower case (RFC 9113 §8.2)")
    func lowers() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        let block = encode(&encoder, [("Content-Type", "Text/HTML"), ("X-Own", "A")])
        let fields = try decoder.decode(block.span).fields
        #expect(fields.map { String(decoding: $0.name, as: UTF8.self) } == ["content-type", "x-own"])
        #expect(fields.values(of: "x-own") == ["A"])
    }

    @Test("§4.2: a block announces the smallest and the last size")
    func announcesSizes() {
        var encoder = HPACKEncoder()
        encoder.setMaximumTableSize(100)
        encoder.setMaximumTableSize(200)
        #expect(encode(&encoder, [(":method", "GET")]) == [0x3F, 0x45, 0x3F, 0xA9, 0x01, 0x82])
        #expect(encode(&encoder, [(":method", "GET")]) == [0x82])
        encoder.setMaximumTableSize(0)
        #expect(encode(&encoder, [("a", "b")]).first == 0x20)
        #expect(encoder.tableCount == 0)
        encoder.setMaximumTableSize(1 << 20)
        #expect(encode(&encoder, []) == [0x3F, 0xE1, 0x1F])
    }

    @Test("Without Huffman codes, strings are as they are")
    func plain() {
        var encoder = HPACKEncoder()
        encoder.usesHuffman = false
        #expect(
            encode(&encoder, [("custom-key", "custom-header")])
                == bytes(hex: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
    }

    @Test(
        "The examples of integers (RFC 7541 §5.1, §C.1.1-C.1.3)",
        arguments: [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a"), (31, 5, "1f00")])
    func integers(value: Int, prefix: UInt8, hex: String) throws {
        var encoded: [UInt8] = []
        HPACKInteger.append(value, prefix: prefix, pattern: 0, to: &encoded)
        #expect(encoded == bytes(hex: hex))
        var offset = 0
        #expect(try HPACKInteger.read(encoded.span, at: &offset, prefix: prefix) == value)
        #expect(offset == encoded.count)
    }

    @Test("Integers at the ends of each length, with every prefix", arguments: 1...8)
    func integerEnds(prefix: UInt8) throws {
        for power in 0...28 {
            for value in [1 << power - 1, 1 << power] {
                var encoded: [UInt8] = []
                HPACKInteger.append(value, prefix: prefix, pattern: 0, to: &encoded)
                var offset = 0
                #expect(try HPACKInteger.read(encoded.span, at: &offset, prefix: prefix) == value)
            }
        }
    }
}

@Suite("Huffman code (RFC 7541 §5.2)")
struct HuffmanCodeTests {
    private func decode(_ encoded: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: HuffmanCode.maximumDecodedCount(encoded.count))
        var span = output.mutableSpan
        let count = try HuffmanCode.shared.decode(encoded.span, 0..<encoded.count, into: &span)
        return Array(output[..<count])
    }

    // This test checks RFC 7541 §B.
    @Test("The code is complete: the codes leave no combination of bits unused")
    func isComplete() {
        let total = HuffmanCode.shared.lengths.reduce(0) { $0 + 1 << (30 - Int($1)) }
        #expect(total == 1 << 30)
        #expect(HuffmanCode.shared.codes[HuffmanCode.endSymbol] == 0x3FFF_FFFF)
        #expect(HuffmanCode.shared.codes[Int(UInt8(ascii: "a"))] == 0x3)
        #expect(HuffmanCode.shared.codes[0] == 0x1FF8)
    }

    @Test("Each byte, alone and between others, is decoded as it was encoded", arguments: 0...255)
    func bytes(byte: UInt8) throws {
        for text in [[byte], [0x61, byte, 0x7A], [byte, byte, byte]] {
            var encoded: [UInt8] = []
            HuffmanCode.shared.encode(text.span, to: &encoded)
            #expect(encoded.count == HuffmanCode.shared.encodedCount(text.span))
            #expect(try decode(encoded) == text)
        }
    }

    @Test("No bytes are no bytes")
    func empty() throws { #expect(try decode([]).isEmpty) }
}
