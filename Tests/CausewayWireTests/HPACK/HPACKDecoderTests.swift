import CausewayWire
import Testing

@Suite("HPACK decoder (RFC 7541)")
struct HPACKDecoderTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        var capacity = 4096
        /// The encoded field blocks, in order. Each has its decoded fields, and the size of the dynamic table after the
        /// block.
        let blocks: [(hex: String, fields: [(String, String)], tableSize: Int)]
        var testDescription: String { name }
    }

    private static let requests: [[(String, String)]] = [
        [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")],
        [
            (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
            ("cache-control", "no-cache"),
        ],
        [
            (":method", "GET"), (":scheme", "https"), (":path", "/index.html"), (":authority", "www.example.com"),
            ("custom-key", "custom-value"),
        ],
    ]

    private static let responses: [[(String, String)]] = [
        [
            (":status", "302"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "307"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "200"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
            ("location", "https://www.example.com"), ("content-encoding", "gzip"),
            ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
        ],
    ]

    static let examples: [Example] = [
        Example(
            name: "RFC 7541 §C.2.1: literal with indexing",
            blocks: [
                (
                    "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                    [("custom-key", "custom-header")], 55
                )
            ]),
        Example(
            name: "RFC 7541 §C.2.2: literal without indexing",
            blocks: [("040c 2f73 616d 706c 652f 7061 7468", [(":path", "/sample/path")], 0)]),
        Example(
            name: "RFC 7541 §C.2.3: literal never indexed",
            blocks: [("1008 7061 7373 776f 7264 0673 6563 7265 74", [("password", "secret")], 0)]),
        Example(name: "RFC 7541 §C.2.4: indexed", blocks: [("82", [(":method", "GET")], 0)]),
        Example(
            name: "RFC 7541 §C.3.1-C.3.3: requests",
            blocks: [
                ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", requests[0], 57),
                ("8286 84be 5808 6e6f 2d63 6163 6865", requests[1], 110),
                ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", requests[2], 164),
            ]),
        Example(
            name: "RFC 7541 §C.4.1-C.4.3: requests with Huffman codes",
            blocks: [
                ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", requests[0], 57),
                ("8286 84be 5886 a8eb 1064 9cbf", requests[1], 110),
                ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", requests[2], 164),
            ]),
        Example(
            name: "RFC 7541 §C.5.1-C.5.3: responses", capacity: 256,
            blocks: [
                (
                    """
                    4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133
                    3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                    """, responses[0], 222
                ),
                ("4803 3330 37c1 c0bf", responses[1], 222),
                (
                    """
                    88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a
                    6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d
                    6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
                    """, responses[2], 215
                ),
            ]),
        Example(
            name: "RFC 7541 §C.6.1-C.6.3: responses with Huffman codes", capacity: 256,
            blocks: [
                (
                    """
                    4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d
                    29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                    """, responses[0], 222
                ),
                ("4883 640e ffc1 c0bf", responses[1], 222),
                (
                    """
                    88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d
                    d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106
                    3d50 07
                    """, responses[2], 215
                ),
            ]),
    ]

    @Test("The examples of Appendix C", arguments: examples)
    func decodes(_ example: Example) throws {
        var decoder = HPACKDecoder()
        if example.capacity == 256 { _ = try decoder.decode([0x3F, 0xE1, 0x01].span) }
        for block in example.blocks {
            var fields = FieldSection()
            for (name, value) in block.fields { fields.append(name, value) }
            #expect(try decoder.decode(bytes(hex: block.hex).span).all == fields)
            #expect(decoder.tableSize == block.tableSize)
        }
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        let name: String
        let hex: String
        let error: WireError
        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(name: "§6.1: index 0", hex: "80", error: .invalid("index", at: 0)),
        Malformed(name: "§2.3.3: index after the static table", hex: "be", error: .invalid("index", at: 0)),
        Malformed(name: "§2.3.3: index after the dynamic table", hex: "4001610162 bf", error: .invalid("index", at: 5)),
        Malformed(name: "§2.3.3: index of a name", hex: "7f 00 0161", error: .invalid("index", at: 0)),
        Malformed(
            name: "§5.1: integer cut off", hex: "ff80", error: .truncated(needed: 1, available: 0, at: 2)),
        Malformed(name: "§5.1: integer too large", hex: "ffffffffff7f", error: .invalid("integer", at: 0)),
        Malformed(
            name: "§5.1: integer with too many bytes", hex: "ff80808080808000", error: .invalid("integer", at: 0)),
        Malformed(
            name: "§5.2: no name", hex: "40", error: .truncated(needed: 1, available: 0, at: 1)),
        Malformed(
            name: "§5.2: name cut off", hex: "400a6375", error: .truncated(needed: 10, available: 2, at: 2)),
        Malformed(
            name: "§5.2: no value", hex: "400161", error: .truncated(needed: 1, available: 0, at: 3)),
        Malformed(
            name: "§5.2: padding with a zero bit", hex: "0081fe", error: .invalid("padding of a Huffman code", at: 2)),
        Malformed(
            name: "§5.2: padding of 8 bits", hex: "00821fff", error: .invalid("padding of a Huffman code", at: 3)),
        Malformed(
            name: "§5.2: end symbol", hex: "0084ffffffff", error: .invalid("Huffman code", at: 5)),
        Malformed(
            name: "§4.2: size update after a field", hex: "8220",
            error: .invalid("table size update after a field", at: 1)),
        Malformed(name: "§6.3: size above the maximum", hex: "3fe21f", error: .invalid("table size", at: 0)),
    ]

    // RFC 7541 §7.4.
    @Test("Malformed blocks", arguments: malformed)
    func rejects(_ vector: Malformed) {
        var decoder = HPACKDecoder()
        #expect(throws: vector.error) { try decoder.decode(bytes(hex: vector.hex).span) }
    }

    // Changes of the table size: RFC 7541 §4.3.
    @Test("§4.2: after a reduction of the maximum, a block starts with a size update")
    func requiresSizeUpdate() throws {
        var decoder = HPACKDecoder()
        decoder.setMaximumTableSize(100)
        let error = WireError.invalid("block without the required table size update", at: 0)
        #expect(throws: error) { try decoder.decode([0x82].span) }
        var other = HPACKDecoder()
        other.setMaximumTableSize(100)
        #expect(try other.decode([0x3F, 0x45, 0x82].span).controlData.count == 1)
        #expect(try other.decode([0x82].span).controlData.count == 1)
    }

    // RFC 7541 §4.1.
    @Test("§4.4: an entry above the size of the table empties it")
    func emptiesTable() throws {
        var decoder = HPACKDecoder()
        _ = try decoder.decode(bytes(hex: "4001610162").span)
        #expect(decoder.tableCount == 1)
        // A table size of 80 bytes leaves 48 bytes for an entry's name and value together.
        var block = bytes(hex: "3f31 40 01 61 7f 01")
        block += [UInt8](repeating: 0x62, count: 128)
        #expect(try decoder.decode(block.span).fields.byteCount == 129)
        #expect(decoder.tableCount == 0 && decoder.tableSize == 0)
    }

    @Test("A literal may take its name from the entry that it evicts (RFC 7541 §4.4)")
    func namesFromEvicted() throws {
        var decoder = HPACKDecoder()
        _ = try decoder.decode(bytes(hex: "3f05 4002 6161 0162").span)
        #expect(decoder.tableCount == 1)
        let decoded = try decoder.decode(bytes(hex: "7e 0163").span)
        #expect(decoded.fields.firstValue(of: "aa") == "c")
        #expect(decoder.tableCount == 1)
    }

    // RFC 7541 §7.3.
    @Test("A block above a limit is decoded for the table, and its fields are dropped")
    func limits() throws {
        var decoder = HPACKDecoder()
        decoder.limits.listSize = 100
        // Each of the three fields counts 34 bytes. Together they exceed the limit of 100 bytes. The decoder must still
        // add the third field to the table.
        let block = bytes(hex: "4001610162 4001630164 4001650166")
        let decoded = try decoder.decode(block.span)
        #expect(decoded.exceedsLimit && decoded.fields.isEmpty)
        #expect(decoder.tableCount == 3)
        #expect(try decoder.decode([0xBE].span).fields.firstValue(of: "e") == "f")
        decoder.limits.listSize = 1000
        decoder.limits.fieldCount = 2
        #expect(try decoder.decode([0xBE, 0xBE].span).fields.count == 2)
        #expect(try decoder.decode([0xBE, 0xBE, 0xBE].span).exceedsLimit)
    }
}
