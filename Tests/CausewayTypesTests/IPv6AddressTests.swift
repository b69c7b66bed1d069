import CausewayTypes
import Foundation
import Testing

@Suite("IPv6Address")
struct IPv6AddressTests {
    /// Most of the addresses come from RFC 5952 §2 and §4. The others come from RFC 4291 §2.2.
    @Test(
        "Prints one form for every form that it parses",
        arguments: [
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:0db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:db8::1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8::0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:DB8:0:0:1::1", "2001:db8::1:0:0:1"),
            (
                "2001:db8:aaaa:bbbb:cccc:dddd:eeee:0001",
                "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1"
            ),
            ("2001:db8:aaaa:bbbb:cccc:dddd::1", "2001:db8:aaaa:bbbb:cccc:dddd:0:1"),
            ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:DB8::AbCd", "2001:db8::abcd"),
            ("ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"),
            ("FF01:0:0:0:0:0:0:101", "ff01::101"), ("0:0:0:0:0:0:0:1", "::1"), ("0:0:0:0:0:0:0:0", "::"),
            ("::", "::"), ("1::", "1::"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("0:0:0:0:0:0:13.1.68.3", "::13.1.68.3"), ("::13.1.68.3", "::13.1.68.3"),
            ("0:0:0:0:0:FFFF:129.144.52.38", "::ffff:129.144.52.38"), ("::ffff:0:0", "::ffff:0.0.0.0"),
            ("::ffff:c000:201", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("::2", "::2"),
            ("::ffff", "::ffff"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
        ])
    func prints(text: String, expected: String) {
        #expect(IPv6Address(text).map { "\($0)" } == expected)
    }

    @Test(
        "Rejects all other text",
        arguments: [
            "", " ", ":", ":::", "1", "1:", ":1", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1::2::3", "1:::2",
            ":::1",
            "12345::", "::00001", "g::", "::g", "::1 ", " ::1", "::1\0", "::-1", "::0x1", "[::1]", "::1/128", "::１",
            "1.2.3.4", "::1.2.3", "::1.2.3.4.5", "::1.2.3.4:5", "::256.1.1.1", "::1.2.3.04", "::01.2.3.4",
            "::0x1.2.3.4",
            "::1.2.3.", "::.1.2.3", "1:2:3:4:5:6:7:1.2.3.4", "::1..3.4", "localhost", "%", "::1%", "::1%nonesuch",
            "::1%0",
            "::1%-1", "::1%+1", "::1%1 ", "::1%99999999", "::1%4294967297", "::1%99999999999999999999", "::1%lo%lo",
            "::1%lo\0", "::1%lo/../lo", "%lo", "fe80::1%%lo",
        ])
    func rejects(text: String) {
        #expect(IPv6Address(text) == nil)
    }

    @Test("Agrees with the C library on any text", arguments: 0..<40)
    func parsesAsLibrary(seed: Int) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("0012fA::::::..")
        var accepted = 0
        for _ in 0..<500 {
            let text = random.text(of: alphabet, upTo: 20)
            let expected = parsedByLibrary(text)
            #expect((IPv6Address(text)?.rawValue).map { [UInt8]($0) } == expected, "\(text)")
            accepted += expected == nil ? 0 : 1
        }
        #expect(accepted > 0)
    }

    @Test("Prints as the C library does, and parses what it prints", arguments: 0..<40)
    func printsAsLibrary(seed: Int) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let address = randomAddress(&random)
            #expect(address.debugDescription == printedByLibrary(address))
            #expect(IPv6Address(address.debugDescription) == address)
            #expect(IPv6Address(address.rawValue) == address)
        }
    }

    @Test("With any one character changed, the verdict equals the C library's", arguments: 0..<20)
    func survivesDamage(seed: Int) {
        var random = SplitMix64(seed: seed)
        let replacements = Array("0:.fg")
        let text = Array(randomAddress(&random).debugDescription)
        for position in text.indices {
            var damaged = text
            damaged[position] = replacements.randomElement(using: &random) ?? ":"
            for candidate in [String(text[..<position]), String(text[position...]), String(damaged)] {
                #expect(
                    (IPv6Address(candidate)?.rawValue).map { [UInt8]($0) } == parsedByLibrary(candidate), "\(candidate)"
                )
            }
        }
    }

    @Test("Takes exactly sixteen bytes", arguments: 0...20)
    func takesSixteenBytes(count: Int) {
        let bytes = Data(0..<30).dropFirst(2).prefix(count)
        let expected = "203:405:607:809:a0b:c0d:e0f:1011"
        #expect(IPv6Address(bytes)?.debugDescription == (count == 16 ? expected : nil))
    }

    @Test("Raw bytes are in network byte order")
    func rawBytes() {
        let address = IPv6Address(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)
        #expect(Array(address.rawValue) == Array(0...15))
    }

    @Test(
        "Constants",
        arguments: [
            (IPv6Address.any, "::"), (.broadcast, "::"), (.loopback, "::1"), (.nodeLocalNodes, "ff01::1"),
            (.linkLocalNodes, "ff02::1"), (.linkLocalRouters, "ff02::2"),
        ])
    func constants(address: IPv6Address, text: String) {
        #expect("\(address)" == text)
    }

    struct Kinds: OptionSet, Hashable {
        let rawValue: Int
        static let any = Kinds(rawValue: 1)
        static let loopback = Kinds(rawValue: 2)
        static let compatible = Kinds(rawValue: 4)
        static let mapped = Kinds(rawValue: 8)
        static let sixToFour = Kinds(rawValue: 16)
        static let linkLocal = Kinds(rawValue: 32)
        static let multicast = Kinds(rawValue: 64)
        static let uniqueLocal = Kinds(rawValue: 128)

        init(rawValue: Int) {
            self.rawValue = rawValue
        }

        init(_ address: IPv6Address) {
            self = []
            if address.isAny { insert(.any) }
            if address.isLoopback { insert(.loopback) }
            if address.isIPv4Compatabile { insert(.compatible) }
            if address.isIPv4Mapped { insert(.mapped) }
            if address.is6to4 { insert(.sixToFour) }
            if address.isLinkLocal { insert(.linkLocal) }
            if address.isMulticast { insert(.multicast) }
            if address.isUniqueLocal { insert(.uniqueLocal) }
        }
    }

    @Test(
        "Kinds",
        arguments: [
            ("::", .any), ("::1", .loopback), ("::2", .compatible), ("::1.2.3.4", .compatible), ("::1:0:0", []),
            ("::ffff:1.2.3.4", .mapped), ("::fffe:1.2.3.4", []), ("1::ffff:1.2.3.4", []), ("2002::", .sixToFour),
            ("2002:ffff::1", .sixToFour), ("2001:ffff::", []), ("2003::", []), ("fe80::", .linkLocal),
            ("febf:ffff::1", .linkLocal), ("fec0::", []), ("fe7f::", []), ("ff00::", .multicast),
            ("ff02::1", .multicast),
            ("fc00::", .uniqueLocal), ("fdff::1", .uniqueLocal), ("fbff::", []), ("2001:db8::1", []),
        ] as [(String, Kinds)])
    func kinds(text: String, expected: Kinds) throws {
        #expect(Kinds(try #require(IPv6Address(text))) == expected)
    }

    @Test(
        "Multicast scopes",
        arguments: [
            ("ff01::1", .nodeLocal), ("ff02::1", .linkLocal), ("ff15::1", .siteLocal), ("ff08::1", .organizationLocal),
            ("ff3e::1", .global), ("ff00::1", nil), ("ff04::1", nil), ("ff0f::1", nil), ("fe02::1", nil),
        ] as [(String, IPv6Address.Scope?)])
    func multicastScopes(text: String, scope: IPv6Address.Scope?) throws {
        #expect(try #require(IPv6Address(text)).multicastScope == scope)
    }

    @Test(
        "Embedded IPv4",
        arguments: [
            ("::ffff:192.0.2.1", "192.0.2.1"), ("::192.0.2.1", "192.0.2.1"), ("::2", "0.0.0.2"), ("::1", nil),
            ("::", nil),
            ("64:ff9b::192.0.2.1", nil), ("::ffff:127.0.0.1%lo", "127.0.0.1%lo"),
        ])
    func embedded(text: String, expected: String?) throws {
        #expect(try #require(IPv6Address(text)).asIPv4?.debugDescription == expected)
    }

    @Test("A scope by name or by index is kept, printed by name, and part of equality", arguments: ["lo", "index"])
    func scope(form: String) throws {
        let interface = try loopbackInterface()
        let scope = form == "index" ? String(interface.index) : form
        let scoped = try #require(IPv6Address("fe80::1%\(scope)"))
        #expect(scoped.interface == interface)
        #expect(scoped.debugDescription == "fe80::1%lo")
        #expect(IPv6Address(scoped.debugDescription) == scoped)
        #expect(scoped != IPv6Address("fe80::1"))
        #expect(scoped == IPv6Address(scoped.rawValue, interface))
        #expect(scoped.isLinkLocal)
        #expect(try #require(IPv6Address("::1%lo")).isLoopback)
    }

    /// Returns a random address. Groups of zeros, and prefixes that print differently, are frequent.
    private func randomAddress(_ random: inout SplitMix64) -> IPv6Address {
        // On average, the mask keeps one group in four and sets the others to zero.
        let chosen = random.next() & random.next() & 0x0001_0001_0001_0001
        let mask = chosen * 0xffff
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return IPv6Address(high: 0, low: random.next() & 0xffff_ffff | 0xffff_0000_0000)
        case 1: return IPv6Address(high: 0, low: random.next() & 0xffff_ffff & mask)
        case 2: return IPv6Address(high: random.next() & mask, low: random.next())
        case 3: return IPv6Address(high: random.next(), low: random.next() & mask)
        case 4: return IPv6Address(high: random.next() & mask, low: random.next() & mask)
        default: return IPv6Address(high: random.next(), low: random.next())
        }
    }

    private func parsedByLibrary(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    private func printedByLibrary(_ address: IPv6Address) -> String? {
        let bytes = Array(address.rawValue)
        var text = [CChar](repeating: 0, count: 64)
        return inet_ntop(AF_INET6, bytes, &text, 64).map { String(cString: $0) }
    }
}
