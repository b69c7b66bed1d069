import CausewayTypes
import CausewayWire
import Testing

@Suite("DNS messages (RFC 1035 §4.1)")
struct DNSMessageTests {
    /// A DNS server's answer with an alias and two addresses. It uses name compression and EDNS(0).
    static let answer: [UInt8] = [
        0x12, 0x34, 0x81, 0xA0, 0, 1, 0, 3, 0, 0, 0, 1,
        3, 0x77, 0x77, 0x77, 7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 3, 0x63, 0x6F, 0x6D, 0, 0, 1, 0, 1,
        0xC0, 12, 0, 5, 0, 1, 0, 0, 0x0E, 0x10, 0, 4, 1, 0x61, 0xC0, 16,
        0xC0, 45, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1,
        0xC0, 45, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
        0, 0, 41, 0x04, 0xD0, 0, 0, 0x80, 0, 0, 6, 0, 10, 0, 2, 7, 8,
    ]

    static let decoded: DNSMessage = {
        var message = DNSMessage()
        message.id = 0x1234
        message.flags = [.isResponse, .recursionDesired, .recursionAvailable, .isAuthentic]
        message.questions = [DNSQuestion("www.example.com", .a)]
        message.answers = [
            DNSRecord("www.example.com", .cname, timeToLive: 3_600, .name("a.example.com")),
            DNSRecord("a.example.com", .a, timeToLive: 60, .ipv4(IPv4Address("192.0.2.1")!)),
            DNSRecord("a.example.com", .aaaa, timeToLive: 60, .ipv6(IPv6Address("2001:db8::1")!)),
        ]
        message.extensions = DNSExtensions(payloadByteCount: 1_232)
        message.extensions?.wantsSecurityRecords = true
        message.extensions?.options = [DNSExtensions.Option(code: 10, value: [7, 8])]
        return message
    }()

    @Test("A message is read and written in the standard format")
    func vector() throws {
        #expect(try DNSMessage(parsing: Self.answer.span) == Self.decoded)
        #expect(Self.decoded.encoded() == Self.answer)
    }

    @Test("A truncated message is refused, and bytes after a message are ignored")
    func truncation() throws {
        for count in 0..<Self.answer.count {
            #expect(throws: WireError.self) { try DNSMessage(parsing: Array(Self.answer.prefix(count)).span) }
        }
        #expect(try DNSMessage(parsing: (Self.answer + [1, 2, 3]).span) == Self.decoded)
    }

    static let contents: [(DNSRecordType, DNSRecordData)] = [
        (.ptr, .name("Printer (2)._ipp._tcp.local")), (.ns, .name("ns.example.com")), (.dname, .name("d.example")),
        (.srv, .service(priority: 1, weight: 2, port: 8_080, target: "host.local")),
        (.txt, .text([3, 0x61, 0x3D, 0x62, 0])),
        (.mx, .mail(preference: 10, exchange: "mail.example.com")),
        (
            .soa,
            .authority(
                DNSAuthority(
                    server: "a.example", mailbox: "b.example", serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5))
        ),
        (.nsec, .next("host.local", types: [.a, .txt, .aaaa, .srv, DNSRecordType(rawValue: 1_234)])),
        (
            .https,
            .binding(
                DNSServiceBinding(
                    priority: 1, target: .root,
                    parameters: [
                        .port: [0x1F, 0x90], .applicationProtocols: [2, 0x68, 0x32], .ipv4Hints: [192, 0, 2, 7],
                    ]))
        ),
        (DNSRecordType(rawValue: 4_711), .opaque([1, 2, 3])), (.hinfo, .opaque([0, 0])),
    ]

    @Test("Every kind of record is read back", arguments: contents)
    func roundTrip(_ type: DNSRecordType, _ data: DNSRecordData) throws {
        for inMulticast in [false, true] {
            var writer = DNSMessageWriter([.isResponse], limit: 512)
            let record = DNSRecord("x.Example.com", type, flushesCache: true, timeToLive: 120, data)
            let fits = writer.add(record, to: .answer, inMulticast: inMulticast)
            #expect(fits)
            #expect(try DNSMessage(parsing: writer.finish().span).answers == [record])
        }
    }

    @Test("C35 C77: invalid content is kept as bytes, and the records after it are read")
    func brokenContent() throws {
        for (type, bytes) in [
            (DNSRecordType.a, [UInt8(1), 2, 3]), (.aaaa, [1]), (.txt, [5, 1]), (.srv, [0, 0]), (.nsec, [0, 0, 33, 0]),
            (.ptr, [0xC0, 0xFF]), (.https, [0, 1, 0, 0, 3, 0, 0, 0, 3, 0, 0]), (.a, [1, 2, 3, 4, 5]),
        ] {
            var message = DNSMessage()
            message.answers = [
                DNSRecord("a", type, timeToLive: 1, .opaque(bytes)), DNSRecord("b", .txt, timeToLive: 1, .text([0])),
            ]
            #expect(try DNSMessage(parsing: message.encoded().span) == message)
        }
    }

    @Test(
        "Missing strings are read as one empty string (RFC 6763 §6.1), and unordered bitmaps are refused (RFC 4034 §4.1.2)"
    )
    func normalForms() throws {
        func read(_ type: UInt8, _ content: [UInt8]) throws -> DNSRecordData? {
            let header: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0]
            let record: [UInt8] = [0, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(content.count)] + content
            return try DNSMessage(parsing: (header + record).span).answers.first?.data
        }
        #expect(try read(16, []) == .text([0]))
        #expect(try read(47, [0, 0, 1, 0x40, 1, 1, 0x80]) == .next(.root, types: [.a, DNSRecordType(rawValue: 256)]))
        let mixed: [UInt8] = [0, 1, 1, 0x80, 0, 1, 0x40]
        #expect(try read(47, mixed) == .opaque(mixed))
    }

    // RFC 6762 §18.12, §18.13.
    @Test("The multicast bits are separated from the class")
    func multicastBits() throws {
        var message = DNSMessage()
        message.questions = [DNSQuestion("a.local", .any, acceptsUnicast: true)]
        let bytes = message.encoded()
        #expect(bytes.suffix(2) == [0x80, 1])
        #expect(try DNSMessage(parsing: bytes.span) == message)
    }

    @Test("A TTL with the highest bit set counts as 0 (RFC 2181 §8)")
    func hugeTimeToLive() throws {
        var message = DNSMessage()
        message.answers = [DNSRecord("a", .a, timeToLive: .max, .ipv4(.loopback))]
        #expect(try DNSMessage(parsing: message.encoded().span).answers[0].timeToLive == 0)
    }

    @Test("A record that does not fit is left out completely, and the message is marked")
    func limit() throws {
        for limit in 12..<Self.answer.count {
            let bytes = Self.decoded.encoded(limit: limit)
            #expect(bytes.count <= limit)
            let message = try DNSMessage(parsing: bytes.span)
            #expect(message.flags.contains(.isTruncated))
            #expect(Self.decoded.answers.starts(with: message.answers))
        }
    }

    @Test("No name points into a record that was left out")
    func rollback() throws {
        var writer = DNSMessageWriter([.isResponse], limit: 60)
        let large = DNSRecord("long.example", .txt, timeToLive: 1, .text([UInt8](repeating: 0, count: 60)))
        let largeFits = writer.add(large, to: .answer)
        #expect(!largeFits)
        let record = DNSRecord("long.example", .a, timeToLive: 1, .ipv4(.loopback))
        let fits = writer.add(record, to: .answer)
        #expect(fits)
        #expect(try DNSMessage(parsing: writer.finish().span).answers == [record])
    }

    @Test("Service bindings have their parameters (RFC 9460 §7)")
    func binding() {
        let binding = DNSServiceBinding(
            priority: 1, target: "svc.example",
            parameters: [
                .applicationProtocols: [2, 0x68, 0x32, 2, 0x68, 0x33], .port: [1, 0xBB],
                .ipv4Hints: [192, 0, 2, 1, 192, 0, 2, 2],
                .ipv6Hints: [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9], .mandatory: [0, 1],
            ])
        #expect(binding.applicationProtocols == [[0x68, 0x32], [0x68, 0x33]])
        #expect(binding.port == 443)
        #expect(binding.ipv4Hints == [IPv4Address("192.0.2.1")!, IPv4Address("192.0.2.2")!])
        #expect(binding.ipv6Hints == [IPv6Address("2001:db8::9")!])
        #expect(!binding.demandsUnknown)
        #expect(DNSServiceBinding(priority: 1, target: .root, parameters: [.mandatory: [0, 99]]).demandsUnknown)
    }

    @Test("Record contents compare without compression (RFC 6762 §8.2)")
    func canonical() {
        #expect(DNSRecordData.name("a.b").canonical == [1, 0x61, 1, 0x62, 0])
        #expect(DNSRecordData.ipv4(IPv4Address("1.2.3.4")!).canonical == [1, 2, 3, 4])
    }
}

@Suite("Compression in multicast DNS (RFC 6762 §18.14)")
struct DNSCompressionTests {
    @Test("C75: names in PTR, SRV and NSEC records are compressed where multicast allows it, and read back")
    func multicast() throws {
        let host: DNSName = "alpha.local"
        let records = [
            DNSRecord("_ipp._tcp.local", .ptr, timeToLive: 10, .name("a._ipp._tcp.local")),
            DNSRecord(
                "a._ipp._tcp.local", .srv, timeToLive: 10, .service(priority: 0, weight: 0, port: 1, target: host)),
            DNSRecord(host, .nsec, timeToLive: 10, .next(host, types: [.a])),
        ]
        for inMulticast in [true, false] {
            var writer = DNSMessageWriter([.isResponse], limit: 1_000)
            for record in records { _ = writer.add(record, to: .answer, inMulticast: inMulticast) }
            let bytes = writer.finish()
            #expect(try DNSMessage(parsing: bytes.span).answers == records)
            let label = [UInt8]("local".utf8)
            let whole = bytes.indices.filter { bytes[$0...].starts(with: label) }.count
            // Only multicast DNS compresses the target names in SRV and NSEC records.
            #expect(whole == (inMulticast ? 1 : 3))
        }
    }
}
