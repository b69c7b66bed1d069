import CausewayTypes
import Testing

@testable import CausewayWire

@Suite("Netlink: routing policy rules")
struct NetlinkRuleTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var name: String
        var body: [UInt8]
        var expected: NetlinkMessage
        var testDescription: String { name }
    }

    /// Returns a message with `struct fib_rule_hdr` followed by attributes.
    private static func rule(
        family: UInt8 = 2, destination: UInt8 = 0, source: UInt8 = 0, table: UInt8 = 254, action: UInt8 = 1,
        flags: UInt32 = 0, _ attributes: [UInt8]...
    ) -> [UInt8] {
        [family, destination, source, 0, table, 0, 0, action] + NetlinkBytes.host(flags) + attributes.flatMap { $0 }
    }

    private static func expected(
        family: InternetAddress.Family = .ipv4, priority: UInt32 = 0, table: UInt32 = 254,
        _ change: (inout NetlinkRule) -> Void = { _ in }
    ) -> NetlinkMessage {
        var rule = NetlinkRule(family: family, priority: priority, table: table)
        change(&rule)
        return .rule(rule)
    }

    static let vectors: [Vector] = [
        Vector(
            name: "from all lookup main",
            body: rule(NetlinkBytes.attribute(6, NetlinkBytes.host(UInt32(32_766)))),
            expected: expected(priority: 32_766)),
        Vector(
            name: "not from all fwmark 0xca6c lookup 51820, as tunnels use it",
            body: rule(
                table: 0, flags: 2, NetlinkBytes.attribute(15, NetlinkBytes.host(UInt32(51_820))),
                NetlinkBytes.attribute(10, NetlinkBytes.host(UInt32(0xca6c)))),
            expected: expected(table: 51_820) { rule in
                (rule.selector.isInverted, rule.selector.mark) = (true, .init(value: 0xca6c, mask: .max))
            }),
        Vector(
            name: "from a prefix over an interface, short prefixes suppressed",
            body: rule(
                source: 24, NetlinkBytes.attribute(2, [192, 0, 2, 0]),
                NetlinkBytes.attribute(17, Array("eth0".utf8) + [0]),
                NetlinkBytes.attribute(14, NetlinkBytes.host(UInt32(0)))),
            expected: expected { rule in
                rule.selector.source = .init(.ipv4(IPv4Address(bits: 0xc000_0200)), length: 24)
                rule.selector.outgoing = "eth0"
                rule.suppressedLength = 0
            }),
        Vector(
            name: "nothing suppressed", body: rule(NetlinkBytes.attribute(14, NetlinkBytes.host(UInt32.max))),
            expected: expected()),
        Vector(
            name: "IPv6 to a prefix, unreachable",
            body: rule(
                family: 10, destination: 32, action: 7,
                NetlinkBytes.attribute(1, [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 12))),
            expected: expected(family: .ipv6) { rule in
                rule.action = .unreachable
                rule.selector.destination = .init(.ipv6(IPv6Address(high: 0x2001_0db8_0000_0000, low: 0)), length: 32)
            }),
        Vector(
            name: "users, protocol and ports",
            body: rule(
                NetlinkBytes.attribute(20, NetlinkBytes.host(UInt32(1_000)) + NetlinkBytes.host(UInt32(1_999))),
                NetlinkBytes.attribute(22, [6]),
                NetlinkBytes.attribute(24, NetlinkBytes.host(UInt16(80)) + NetlinkBytes.host(UInt16(90)))),
            expected: expected { rule in
                (rule.selector.users, rule.selector.transport) = (1_000...1_999, 6)
                rule.selector.destinationPorts = 80...90
            }),
        Vector(
            name: "a range that ends before it begins",
            body: rule(NetlinkBytes.attribute(24, NetlinkBytes.host(UInt16(90)) + NetlinkBytes.host(UInt16(80)))),
            expected: expected { rule in rule.selector.destinationPorts = 90...90 }),
        Vector(name: "of another family", body: [128], expected: .other(type: 32)),
    ]

    @Test("A rule is decoded", arguments: vectors)
    func parses(_ vector: Vector) throws {
        let bytes = NetlinkBytes.message(type: 32, vector.body)
        var decoder = NetlinkDecoder(bytes.span)
        #expect(try decoder.next()?.message == vector.expected)
        #expect(try decoder.next() == nil)
        guard case .rule(let rule) = vector.expected else { return }
        let removal = NetlinkBytes.message(type: 33, vector.body)
        var other = NetlinkDecoder(removal.span)
        #expect(try other.next()?.message == .ruleRemoved(rule))
    }

    @Test("A truncated rule is an error or a rule, and never traps")
    func cuts() {
        for vector in Self.vectors {
            for count in 0..<vector.body.count {
                let bytes = NetlinkBytes.message(type: 32, Array(vector.body.prefix(count)))
                var decoder = NetlinkDecoder(bytes.span)
                guard let message = try? decoder.next()?.message else { continue }
                guard case .rule = message else {
                    Issue.record("\(count) bytes of a rule are \(message)")
                    continue
                }
            }
        }
    }

    @Test("A prefix longer than the family's addresses is refused")
    func prefixLength() {
        let bytes = NetlinkBytes.message(type: 32, Self.rule(destination: 33))
        var decoder = NetlinkDecoder(bytes.span)
        #expect(throws: WireError.self) { try decoder.next() }
    }
}
