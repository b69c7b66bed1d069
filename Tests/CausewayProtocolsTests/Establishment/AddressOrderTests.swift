import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Order of destinations (RFC 6724 §6)")
struct AddressOrderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Each address as a tuple: the destination, the source with its prefix length, and flags. If the source is
        /// `nil`, there is no route. The flag `d` means deprecated. The flag `t` means tunnelled.
        var given: [(String, String?, String)]
        var expected: [Int]
        var rule: AddressOrder.Rule?

        init(_ rule: AddressOrder.Rule?, _ text: String, _ given: [(String, String?, String)], _ expected: [Int]) {
            testDescription = text
            self.given = given
            self.expected = expected
            self.rule = rule
        }
    }

    static let rows: [Row] = [
        // The examples of RFC 6724 §10.2, with the source addresses given there.
        Row(
            .scope, "matching scopes, IPv6",
            [("198.51.100.121", "169.254.13.78/16", ""), ("2001:db8:1::1", "2001:db8:1::2/64", "")], [1, 0]),
        Row(
            .scope, "matching scopes, IPv4",
            [("2001:db8:1::1", "fe80::1/64", ""), ("198.51.100.121", "198.51.100.117/24", "")], [1, 0]),
        Row(
            .precedence, "precedence: IPv6 before IPv4",
            [("10.1.2.3", "10.1.2.4/24", ""), ("2001:db8:1::1", "2001:db8:1::2/64", "")], [1, 0]),
        Row(
            .smallerScope, "smaller scope", [("2001:db8:1::1", "2001:db8:1::2/64", ""), ("fe80::1", "fe80::2/64", "")],
            [1, 0]),
        Row(
            .deprecated, "a source that is not deprecated",
            [("2001:db8:1::1", "2001:db8:1::2/64", "d"), ("2001:db8:2::1", "2001:db8:2::2/64", "")], [1, 0]),
        Row(
            .longestPrefix, "longest common prefix",
            [("2001:db8:1::1", "2001:db8:3f44::2/64", ""), ("2001:db8:3ffe::1", "2001:db8:3f44::2/64", "")], [1, 0]),
        Row(
            .label, "matching label",
            [("2002:c633:6401::1", "2001:db8::2/64", ""), ("2001:db8:1::1", "2001:db8::2/64", "")], [1, 0]),
        Row(
            .precedence, "6to4 after native",
            [("2002:c633:6401::1", "2002:c633:6401::2/64", ""), ("2001:db8:1::1", "2001:db8:1::2/64", "")], [1, 0]),
        // The following tests cover the address selection rules.
        Row(
            .unusable, "without a route comes last", [("2001:db8::1", nil, ""), ("192.0.2.1", "192.0.2.2/24", "")],
            [1, 0]),
        Row(
            .unusable, "among several",
            [("2001:db8::1", nil, ""), ("2001:db8::2", nil, ""), ("192.0.2.1", "192.0.2.2/24", "")], [2, 0, 1]),
        Row(
            .precedence, "loopback before all", [("2001:db8::1", "2001:db8::2/64", ""), ("::1", "::1/128", "")], [1, 0]),
        Row(
            .label, "a unique local source is not for global destinations",
            [("2001:db8::1", "fd00::2/64", ""), ("192.0.2.1", "192.0.2.2/24", "")], [1, 0]),
        Row(
            .precedence, "unique local after IPv4", [("fd00::1", "fd00::2/64", ""), ("192.0.2.1", "192.0.2.2/24", "")],
            [1, 0]),
        Row(.precedence, "Teredo last", [("2001::1", "2001::2/32", ""), ("192.0.2.1", "192.0.2.2/24", "")], [1, 0]),
        Row(
            .native, "native before tunnel",
            [("2001:db8:1::1", "2001:db8:1::2/64", "t"), ("2001:db8:2::1", "2001:db8:2::2/64", "")], [1, 0]),
        Row(
            .longestPrefix, "IPv4 on the link",
            [("198.51.100.9", "192.0.2.2/24", ""), ("192.0.2.9", "192.0.2.2/24", "")], [1, 0]),
        Row(
            .order, "IPv4 beyond the link keeps the server's order",
            [("203.0.113.9", "192.0.2.2/24", ""), ("192.0.3.9", "192.0.2.2/24", "")], [0, 1]),
        Row(
            .order, "prefixes are compared up to the source's prefix length",
            [("2001:db8:0:1::ffff", "2001:db8:0:1::2/64", ""), ("2001:db8:0:1::3", "2001:db8:0:1::2/64", "")], [0, 1]),
        Row(
            .order, "equals keep their order",
            [("2001:db8::1", "2001:db8::9/64", ""), ("2001:db8::2", "2001:db8::9/64", "")], [0, 1]),
        Row(
            .scope, "link-local IPv4 to a global destination",
            [("192.0.2.1", "169.254.1.1/16", ""), ("169.254.1.2", "169.254.1.1/16", "")], [1, 0]),
    ]

    static func destination(_ row: (String, String?, String)) -> Destination {
        let source = row.1.map { text -> Destination.Source in
            let parts = text.split(separator: "/")
            return Destination.Source(
                address(String(parts[0])), prefixLength: Int(parts[1]) ?? 0, isDeprecated: row.2.contains("d"),
                isTunnelled: row.2.contains("t"))
        }
        return Destination(address(row.0), source: source)
    }

    static func address(_ text: String) -> InternetAddress {
        text.contains(":") ? .ipv6(IPv6Address(text) ?? .any) : .ipv4(IPv4Address(text) ?? .any)
    }

    // This test checks RFC 8305 §4.
    @Test("The order of two destinations, and the rule that decides", arguments: rows)
    func sorts(_ row: Row) {
        let given = row.given.map(Self.destination)
        #expect(AddressOrder.sorted(given) == row.expected)
        if given.count == 2, let rule = row.rule { #expect(AddressOrder.decide(given[0], given[1]).rule == rule) }
    }

    @Test("Sorting keeps every element, and sorting again changes nothing", arguments: 0..<100)
    func property(seed: Int) {
        var numbers = SplitMix64(seed: UInt64(seed))
        let pool = Self.rows.flatMap(\.given)
        let given = (0..<Int.random(in: 0...20, using: &numbers)).map { _ in
            Self.destination(pool[Int.random(in: pool.indices, using: &numbers)])
        }
        let order = AddressOrder.sorted(given)
        #expect(order.sorted() == Array(given.indices))
        let sorted = order.map { given[$0] }
        for (one, other) in zip(sorted, sorted.dropFirst()) { #expect(AddressOrder.decide(one, other).order <= 0) }
    }
}
