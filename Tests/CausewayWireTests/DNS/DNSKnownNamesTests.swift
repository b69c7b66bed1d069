import CausewayTypes
import CausewayWire
import Testing

@Suite("DNS: names with several pointers to them")
struct DNSKnownNamesTests {
    /// The written messages contain more names than a reader caches. Compression pointers occur in any order, both in
    /// owner names and in record data. A pointer refers to a whole name or to a part of a name.
    @Test("Written messages are read back, with any number of pointers to names, in any order", arguments: 0..<20)
    func pointedAt(_ seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func pick(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        let type: DNSName = "_ipp._tcp.local"
        let names =
            (0..<4).map { DNSName("h\($0)", in: "local")! } + (0..<4).map { DNSName("s\($0)", in: type)! } + [type]
        var message = DNSMessage()
        message.flags = [.isResponse]
        for _ in 0..<60 {
            let (owner, other) = (names[pick(names.count)], names[pick(names.count)])
            message.answers.append(
                [
                    DNSRecord(owner, .a, timeToLive: 9, .ipv4(IPv4Address(bits: 9))),
                    DNSRecord(owner, .ptr, timeToLive: 9, .name(other)),
                    DNSRecord(owner, .srv, timeToLive: 9, .service(priority: 0, weight: 0, port: 9, target: other)),
                    DNSRecord(owner, .txt, timeToLive: 9, .text([1, 65])),
                ][pick(4)])
        }
        let bytes = message.encoded(limit: 9_000)
        #expect(bytes.count < 2_000)
        #expect(try DNSMessage(parsing: bytes.span).answers == message.answers)
    }

    @Test("A pointer to an offset inside a name is followed correctly, although a cached name begins there")
    func broken() throws {
        // Build a message with two records. The name of the first record is complete and begins at offset 12. The name
        // of the second record is a pointer to itself.
        var bytes: [UInt8] = [
            0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 65, 0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4,
        ]
        let start = UInt8(bytes.count)
        bytes += [0xC0, start, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]
        #expect(throws: WireError.self) { try DNSMessage(parsing: bytes.span) }
        bytes[Int(start) + 1] = 12
        #expect(try DNSMessage(parsing: bytes.span).answers.map(\.name) == ["A", "a"])
    }

    @Test("A record is within the limits of the reader's tables")
    func size() { #expect(MemoryLayout<DNSRecord>.stride <= 48) }
}
