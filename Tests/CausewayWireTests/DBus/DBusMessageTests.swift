import CausewayWire
import Testing

@Suite("D-Bus messages")
struct DBusMessageTests {
    private static func parse(_ bytes: [UInt8]) throws -> DBusMessage { try DBusMessage(parsing: bytes.span) }
    private static func byteCount(_ bytes: [UInt8]) throws -> Int? { try DBusMessage.byteCount(of: bytes.span) }

    @Test(
        "A message of another implementation is read, in either byte order",
        arguments: [DBusVectors.little, DBusVectors.big])
    func reads(_ bytes: [UInt8]) throws {
        #expect(try Self.byteCount(bytes) == bytes.count)
        #expect(try Self.parse(bytes) == DBusVectors.message)
    }

    @Test("A written message is read back, and a call equals that of another implementation")
    func writes() throws {
        let written = DBusVectors.message.encoded
        #expect(try Self.parse(written) == DBusVectors.message)
        #expect(written.count == DBusVectors.little.count)
        var hello = DBusMessage(.call, serial: 1)
        (hello.path, hello.interface, hello.member) = ("/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
        hello.destination = "org.freedesktop.DBus"
        // The order of the fields is not specified.
        #expect(try Self.parse(DBusVectors.hello) == hello)
        #expect(hello.encoded.count == DBusVectors.hello.count)
    }

    @Test(
        "Invalid signatures are refused",
        arguments: [
            "a", "(", "()", "(s", "s)", "{sv}", "a{vs}", "a{s}", "a{sss}", "h", "z", "a{(s)s}",
            String(repeating: "a", count: 40) + "s",
            String(repeating: "(", count: 40) + "s" + String(repeating: ")", count: 40),
            String(repeating: "s", count: 256),
        ])
    func signatures(_ text: String) {
        #expect(DBusType.list(Array(text.utf8)) == nil)
    }

    @Test("A signature is parsed into its types", arguments: ["", "ybnqiuxtdsogv", "a{oa{sa{sv}}}", "a(su)ay(y(ss))"])
    func spelling(_ text: String) throws {
        #expect(try #require(DBusType.list(Array(text.utf8))).map(\.code).joined() == text)
    }

    @Test(
        "An object path is checked",
        arguments: [
            ("/", true), ("/a/B_9", true), ("", false), ("a", false), ("/a/", false), ("//", false), ("/a-b", false),
        ])
    func paths(_ path: String, _ isOne: Bool) {
        #expect(DBusValue.isObjectPath(path) == isOne)
    }

    @Test("Lengths above a mebibyte, other versions and invalid byte orders are refused at the beginning")
    func prefixes() throws {
        func prefix(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = Array(DBusVectors.little[..<16])
            change(&bytes)
            return bytes
        }
        for bytes in [
            prefix { $0[6] = 0x10 }, prefix { $0[14] = 0x10 }, prefix { $0[15] = 0xFF }, prefix { $0[3] = 2 },
            prefix { $0[0] = 0 }, prefix { $0[1] = 0 }, prefix { $0[8] = 0 },
        ] {
            #expect(throws: WireError.self) { try Self.byteCount(bytes) }
        }
        #expect(try Self.byteCount(Array(DBusVectors.little[..<15])) == nil)
    }

    @Test("Nested variants end at the limit")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            var message = DBusMessage(.signal, serial: 1)
            message.body = [(0..<depth).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }]
            return message.encoded
        }
        #expect(try Self.parse(nested(DBusType.depthLimit)).body.count == 1)
        #expect(throws: WireError.self) { try Self.parse(nested(DBusType.depthLimit + 1)) }
    }

    @Test("The number of values in a message is limited")
    func count() throws {
        func many(_ count: Int) -> [UInt8] {
            var message = DBusMessage(.signal, serial: 1)
            message.body = [.array(.boolean, Array(repeating: .boolean(true), count: count))]
            return message.encoded
        }
        #expect(try Self.parse(many(60_000)).body.first?.elements.count == 60_000)
        #expect(throws: WireError.self) { try Self.parse(many(70_000)) }
    }

    @Test("A truncated message is refused")
    func truncation() {
        for length in 0..<DBusVectors.little.count {
            #expect(throws: WireError.self) { try Self.parse(Array(DBusVectors.little[..<length])) }
        }
    }

    @Test("Messages with changed bytes, and random bytes, never trap", arguments: 0..<100)
    func mutation(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<100 {
            var bytes = [DBusVectors.little, DBusVectors.big, DBusVectors.hello].randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let message = try? Self.parse(bytes) else { continue }
            #expect((try? Self.parse(message.encoded)) == message)
        }
    }

    @Test(
        "The bus address is found in a list",
        arguments: [
            ("unix:path=/run/bus", [DBusAddress.path("/run/bus")]),
            ("tcp:host=a,port=1;unix:abstract=x%2fy,guid=0a", [.abstract("x/y")]),
            ("unix:guid=1,path=/a;unix:path=/b", [.path("/a"), .path("/b")]),
            ("unix:path=%zz", []), ("unix:path=%00", []), ("unix:path=%4", []), ("unix:", []), ("", []), (";;:=,", []),
        ] as [(String, [DBusAddress])])
    func addresses(_ text: String, _ expected: [DBusAddress]) {
        #expect(DBusAddress.list(text) == expected)
    }
}
