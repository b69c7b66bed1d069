import CausewayTypes
import CausewayWire
import Testing

@Suite("Internet addresses")
struct InternetAddressTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let address: String
        let prefix: String
        let length: Int
        let isInside: Bool
        var testDescription: String { "\(address) in \(prefix)/\(length)" }
    }

    static let rows: [Row] = [
        Row(address: "192.0.2.9", prefix: "192.0.2.0", length: 24, isInside: true),
        Row(address: "192.0.3.9", prefix: "192.0.2.0", length: 24, isInside: false),
        Row(address: "192.0.3.9", prefix: "192.0.2.0", length: 23, isInside: true),
        Row(address: "192.0.2.1", prefix: "192.0.2.1", length: 32, isInside: true),
        Row(address: "192.0.2.0", prefix: "192.0.2.1", length: 32, isInside: false),
        Row(address: "203.0.113.1", prefix: "0.0.0.0", length: 0, isInside: true),
        Row(address: "192.0.2.1", prefix: "192.0.2.1", length: 33, isInside: false),
        Row(address: "192.0.2.1", prefix: "192.0.2.1", length: -1, isInside: false),
        Row(address: "::1", prefix: "0.0.0.0", length: 0, isInside: false),
        Row(address: "2001:db8::1", prefix: "2001:db8::", length: 64, isInside: true),
        Row(address: "2001:db8:0:1::1", prefix: "2001:db8::", length: 64, isInside: false),
        Row(address: "2001:db8:0:1::1", prefix: "2001:db8::", length: 63, isInside: true),
        Row(address: "2001:db8::1:0", prefix: "2001:db8::", length: 112, isInside: false),
        Row(address: "2001:db8::ffff", prefix: "2001:db8::", length: 112, isInside: true),
        Row(address: "2001:db8::2", prefix: "2001:db8::3", length: 128, isInside: false),
        Row(address: "2001:db8::3", prefix: "2001:db8::3", length: 128, isInside: true),
        Row(address: "2001:db8::3", prefix: "::", length: 0, isInside: true),
        Row(address: "2001:db8::3", prefix: "2001:db8::3", length: 129, isInside: false),
    ]

    @Test("Prefixes", arguments: rows)
    func prefixes(_ row: Row) throws {
        #expect(try Self.address(row.address).isInside(Self.address(row.prefix), length: row.length) == row.isInside)
    }

    @Test("A description equals that of the address")
    func descriptions() throws {
        #expect(try Self.address("192.0.2.1").description == "192.0.2.1")
        #expect(try Self.address("2001:DB8::1").description == "2001:db8::1")
    }

    private static func address(_ text: String) throws -> InternetAddress {
        if let address = IPv4Address(text) { return .ipv4(address) }
        return .ipv6(try #require(IPv6Address(text)))
    }
}
