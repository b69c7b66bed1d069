import CausewayTypes
import CausewayWire
import Testing

@Suite("Netlink: translator prefixes in router advertisements (RFC 8781)")
struct NetlinkTranslatorPrefixTests {
    /// Returns a netlink message with `struct nduseroptmsg`, options, and the router's address as an attribute.
    static func message(
        family: UInt8 = 10, index: Int32 = 3, type: UInt8 = 134, length: UInt16? = nil, _ options: [UInt8]
    ) -> [UInt8] {
        let length = NetlinkBytes.host(length ?? UInt16(options.count))
        let head = [family, 0] + length + NetlinkBytes.host(index) + [type] + [UInt8](repeating: 0, count: 7)
        let router = NetlinkBytes.attribute(1, NetlinkDecoderTests.v6Bytes)
        return NetlinkBytes.message(type: 68, head + options + router)
    }

    /// Returns the bytes of a router advertisement option for the prefix 2001:db8:64::.
    static func option(lifetime: UInt16, lengthCode: UInt16) -> [UInt8] {
        let scaled = lifetime & ~7 | lengthCode
        return [38, 2, UInt8(scaled >> 8), UInt8(scaled & 0xFF), 0x20, 0x01, 0x0D, 0xB8, 0, 0x64]
            + [UInt8](repeating: 0, count: 6)
    }

    private static func expected(_ length: Int, lifetime: Int) -> NetlinkMessage {
        .translatorPrefix(
            NetlinkTranslatorPrefix(
                interfaceIndex: 3, prefix: IPv6Address(high: 0x2001_0DB8_0064_0000, low: 0), length: length,
                lifetime: lifetime))
    }

    static let vectors: [NetlinkDecoderTests.Vector] =
        [96, 64, 56, 48, 40, 32].enumerated().map { code, length in
            NetlinkDecoderTests.Vector(
                name: "prefix of \(length) bits", bytes: message(option(lifetime: 600, lengthCode: UInt16(code))),
                expected: expected(length, lifetime: 600))
        } + [
            NetlinkDecoderTests.Vector(
                name: "taken back", bytes: message(option(lifetime: 0, lengthCode: 0)),
                expected: expected(96, lifetime: 0)),
            NetlinkDecoderTests.Vector(
                name: "after another option, with the maximum lifetime",
                bytes: message([25, 1, 0, 0, 0, 0, 0, 0] + option(lifetime: .max, lengthCode: 0)),
                expected: expected(96, lifetime: 65_528)),
            NetlinkDecoderTests.Vector(
                name: "a length that does not exist", bytes: message(option(lifetime: 600, lengthCode: 6)),
                expected: .other(type: 68)),
            NetlinkDecoderTests.Vector(
                name: "only name servers", bytes: message([25, 1, 0, 0, 0, 0, 0, 0]), expected: .other(type: 68)),
            NetlinkDecoderTests.Vector(
                name: "no advertisement", bytes: message(type: 137, option(lifetime: 600, lengthCode: 0)),
                expected: .other(type: 68)),
            NetlinkDecoderTests.Vector(
                name: "IPv4", bytes: message(family: 2, option(lifetime: 600, lengthCode: 0)),
                expected: .other(type: 68)),
        ]

    @Test("Messages", arguments: vectors)
    func decodes(_ vector: NetlinkDecoderTests.Vector) throws {
        var decoder = NetlinkDecoder(vector.bytes.span)
        #expect(try decoder.next()?.message == vector.expected)
        #expect(try decoder.next() == nil)
    }

    @Test("An option without length, and one beyond its message, are refused")
    func refuses() {
        for bytes in [Self.message([38, 0, 0, 0, 0, 0, 0, 0]), Self.message(length: 200, [38, 2, 0, 0])] {
            #expect(throws: WireError.self) {
                var decoder = NetlinkDecoder(bytes.span)
                _ = try decoder.next()
            }
        }
    }
}
