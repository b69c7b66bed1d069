import CausewayTestKit
import CausewayTypes
import Testing

@testable import CausewayProtocols

@Suite("Prefixes of translators (RFC 6052, RFC 7050)")
struct TranslationPrefixTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var prefix: String
        var length: Int
        var expected: String
        var testDescription: String { "\(prefix)/\(length)" }
    }

    /// Examples from the table in RFC 6052 §2.4, for the IPv4 address 192.0.2.33.
    static let rows = [
        Row(prefix: "2001:db8::", length: 32, expected: "2001:db8:c000:221::"),
        Row(prefix: "2001:db8:100::", length: 40, expected: "2001:db8:1c0:2:21::"),
        Row(prefix: "2001:db8:122::", length: 48, expected: "2001:db8:122:c000:2:2100::"),
        Row(prefix: "2001:db8:122:300::", length: 56, expected: "2001:db8:122:3c0:0:221::"),
        Row(prefix: "2001:db8:122:344::", length: 64, expected: "2001:db8:122:344:c0:2:2100::"),
        Row(prefix: "2001:db8:122:344::", length: 96, expected: "2001:db8:122:344::c000:221"),
        Row(prefix: "64:ff9b::", length: 96, expected: "64:ff9b::c000:221"),
    ]

    private static func prefix(_ text: String, _ length: Int) throws -> TranslationPrefix {
        let address = try #require(IPv6Address(text))
        return try #require(TranslationPrefix(address, length: length))
    }

    @Test("Every prefix length maps and finds the addresses in the table of RFC 6052", arguments: rows)
    func table(_ row: Row) throws {
        let address = try #require(IPv4Address("192.0.2.33"))
        let prefix = try Self.prefix(row.prefix, row.length)
        let made = try #require(IPv6Address(row.expected))
        #expect(prefix.synthesize(address) == made)
        #expect(prefix.extract(from: made) == address)
    }

    @Test("A prefix is found in answers that were synthesized with it", arguments: rows)
    func discovery(_ row: Row) throws {
        let prefix = try Self.prefix(row.prefix, row.length)
        let answers = ["192.0.0.170", "192.0.0.171"].compactMap { IPv4Address($0) }.compactMap { prefix.synthesize($0) }
        #expect(answers.count == 2)
        #expect(TranslationPrefix.discovered(in: answers) == [prefix])
    }

    @Test("Answers that were not synthesized contain no prefix")
    func strangers() {
        let answers = ["2001:db8::1", "::1", "2001:db8:c000:aa:c0:0:aa00:0", "64:ff9b::c000:ac"].compactMap {
            IPv6Address($0)
        }
        #expect(TranslationPrefix.discovered(in: answers).isEmpty)
    }

    @Test("Two translators: both prefixes, in order, without repetition")
    func several() throws {
        let answers = ["2001:db8:64::c000:aa", "64:ff9b::c000:aa", "2001:db8:64::c000:ab"].compactMap {
            IPv6Address($0)
        }
        #expect(TranslationPrefix.discovered(in: answers).map(\.length) == [96, 96])
        #expect(TranslationPrefix.discovered(in: answers).last == .wellKnown)
    }

    @Test(
        "This host, the link, multicast groups and the unspecified address are not translated",
        arguments: ["127.0.0.1", "0.0.0.0", "169.254.1.1", "224.0.0.1", "255.255.255.255", "240.0.0.1"])
    func untranslatable(_ text: String) throws {
        let prefix = try Self.prefix("2001:db8:64::", 96)
        let address = try #require(IPv4Address(text))
        #expect(prefix.synthesize(address) == nil)
    }

    @Test(
        "The well-known prefix maps global addresses only",
        arguments: [
            ("10.0.0.1", false), ("172.31.0.1", false), ("172.32.0.1", true), ("192.168.0.1", false),
            ("100.64.0.1", false), ("100.128.0.1", true), ("8.8.8.8", true),
        ])
    func global(_ text: String, isGlobal: Bool) throws {
        let address = try #require(IPv4Address(text))
        #expect((TranslationPrefix.wellKnown.synthesize(address) != nil) == isGlobal)
        let own = try Self.prefix("2001:db8:64::", 96)
        #expect(own.synthesize(address) != nil)
    }

    @Test("Any address survives a round trip", arguments: TranslationPrefix.lengths)
    func roundTrip(length: Int) throws {
        var numbers = SplitMix64(seed: UInt64(length))
        for _ in 0..<500 {
            let place = IPv6Address(high: numbers.next(), low: numbers.next() >> 8)
            let prefix = try #require(TranslationPrefix(place, length: length))
            let address = IPv4Address(bits: UInt32.random(in: 0x0100_0000...0x09FF_FFFF, using: &numbers))
            let made = try #require(prefix.synthesize(address))
            #expect(prefix.extract(from: made) == address)
            #expect(length == 96 || made.low >> 56 == 0)
        }
    }
}
