import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Prefixes that routers advertise (RFC 8781)")
struct AdvertisedPrefixesTests {
    private static func word(_ interface: Int, _ number: UInt64, lifetime: Int = 600) -> NetlinkTranslatorPrefix {
        NetlinkTranslatorPrefix(
            interfaceIndex: interface, prefix: IPv6Address(high: 0x2001_0DB8_0000_0000 | number << 16, low: 0),
            length: 96, lifetime: lifetime)
    }

    private static func prefix(_ number: UInt64) throws -> TranslationPrefix {
        try #require(TranslationPrefix(word(1, number).prefix, length: 96))
    }

    @Test("A prefix is valid for its lifetime, which each advertisement renews, and only the first is reported")
    func lifetimes() throws {
        var heard = AdvertisedPrefixes()
        let results = [(0, 1), (300, 1), (300, 2)].map { heard.heard(Self.word(1, $0.1), at: .seconds($0.0)) }
        #expect(results == [true, false, true])
        #expect(heard.prefixes(at: .seconds(899)) == [try Self.prefix(1), try Self.prefix(2)])
        #expect(heard.prefixes(at: .seconds(900)).isEmpty)
        let hasChangedAgain = heard.heard(Self.word(1, 1), at: .seconds(901))
        #expect(hasChangedAgain)
    }

    @Test("A withdrawn prefix is no longer valid")
    func withdrawal() {
        var heard = AdvertisedPrefixes()
        let results = [600, 0, 0].map { heard.heard(Self.word(1, 1, lifetime: $0), at: .zero) }
        #expect(results == [true, true, false])
        #expect(heard.prefixes(at: .zero).isEmpty)
    }

    @Test("Each interface has its own prefixes, and loses them when it goes down")
    func interfaces() throws {
        var heard = AdvertisedPrefixes()
        for (interface, number) in [(1, 1), (2, 1), (2, 2)] {
            _ = heard.heard(Self.word(interface, UInt64(number)), at: .zero)
        }
        #expect(heard.prefixes(at: .zero) == [try Self.prefix(1), try Self.prefix(2)])
        #expect(heard.prefixes(over: 1, at: .zero) == [try Self.prefix(1)])
        heard.forget(2)
        #expect(heard.prefixes(at: .zero) == [try Self.prefix(1)])
    }

    @Test("A flood fills a bounded table, and an invalid prefix is not kept")
    func bounds() {
        var heard = AdvertisedPrefixes()
        for number in 0..<100 { _ = heard.heard(Self.word(1, UInt64(number)), at: .zero) }
        #expect(heard.prefixes(at: .zero).count == AdvertisedPrefixes.limit)
        var wrong = Self.word(2, 1)
        wrong.length = 80
        let hasChanged = heard.heard(wrong, at: .zero)
        #expect(!hasChanged && heard.prefixes(over: 2, at: .zero).isEmpty)
    }
}
