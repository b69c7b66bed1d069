import CausewayProtocols
import CausewaySystem
import CausewayTypes
import Testing

@testable import CausewayRuntime

extension Runtime {
    /// Tests the relay address in a SOCKS 5 reply (RFC 1928 §6), and the address that the client derives from it.
    @Suite("Addresses of relays")
    struct RelayPlaceTests {
        struct Row: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var bound: TunnelDestination
            var proxy = SocketAddress.ipv4(bits: 0xC000_0201, port: 1_080)
            /// The address to which the client sends datagrams; `nil` if the client must reject the proxy's reply.
            var place: SocketAddress?
        }

        private static func four(_ bits: UInt32, _ port: UInt16 = 4_000) -> TunnelDestination {
            TunnelDestination(.address(.ipv4(IPv4Address(bits: bits))), port: port)
        }

        private static func six(_ high: UInt64, _ low: UInt64) -> TunnelDestination {
            TunnelDestination(.address(.ipv6(IPv6Address(high: high, low: low))), port: 4_000)
        }

        private static let local4 = SocketAddress.ipv4(bits: 0x7F00_0001, port: 1_080)
        private static let link6 = SocketAddress.ipv6(high: 0xFE80 << 48, low: 1, port: 1_080, scope: 7)

        static let rows = [
            Row(testDescription: "an address", bound: four(0xC000_0202), place: .ipv4(bits: 0xC000_0202, port: 4_000)),
            Row(
                testDescription: "zeros: the proxy's address", bound: four(0),
                place: .ipv4(bits: 0xC000_0201, port: 4_000)),
            Row(
                testDescription: "zeros of another family", bound: six(0, 0),
                place: .ipv4(bits: 0xC000_0201, port: 4_000)),
            Row(
                testDescription: "zeros, on a link", bound: four(0), proxy: link6,
                place: .ipv6(high: 0xFE80 << 48, low: 1, port: 4_000, scope: 7)),
            Row(
                testDescription: "a link-local address", bound: six(0xFE80 << 48, 2), proxy: link6,
                place: .ipv6(high: 0xFE80 << 48, low: 2, port: 4_000, scope: 7)),
            Row(
                testDescription: "mapped", bound: six(0, 0xFFFF_C000_0202),
                place: .ipv4(bits: 0xC000_0202, port: 4_000)),
            Row(testDescription: "no port", bound: four(0xC000_0202, 0), place: nil),
            Row(testDescription: "mapped zeros, which mean this host", bound: six(0, 0xFFFF_0000_0000), place: nil),
            Row(testDescription: "a group", bound: four(0xE000_0001), place: nil),
            Row(testDescription: "the loopback address, from a remote proxy", bound: four(0x7F00_0001), place: nil),
            Row(
                testDescription: "the mapped loopback address, from a remote proxy", bound: six(0, 0xFFFF_7F00_0001),
                place: nil),
            Row(
                testDescription: "the loopback address, from a local proxy", bound: four(0x7F00_0001), proxy: local4,
                place: .ipv4(bits: 0x7F00_0001, port: 4_000)),
            Row(testDescription: "a proxy without addresses", bound: four(0), proxy: .unix(path: "/p"), place: nil),
        ]

        @Test("Datagrams are sent only to addresses that the proxy may choose", arguments: rows)
        func place(_ row: Row) {
            guard case .addresses(let addresses) = RelayPlace.target(row.bound, of: row.proxy) else {
                #expect(row.place == nil)
                return
            }
            #expect(addresses == [row.place])
        }

        @Test("The addresses of a name are checked like others")
        func permits() {
            let remote = SocketAddress.ipv4(bits: 0xC000_0201, port: 1_080)
            let places = [0xC000_0202, 0x7F00_0001, 0, 0xE000_0001].map { SocketAddress.ipv4(bits: $0, port: 0) }
            #expect(places.map { RelayPlace.permits($0, of: remote) } == [true, false, false, false])
            #expect(places.map { RelayPlace.permits($0, of: Self.local4) } == [true, true, false, false])
        }

        @Test("A name is resolved")
        func name() {
            let bound = TunnelDestination(.name("relay.example"), port: 4_000)
            guard case .name("relay.example", 4_000, nil) = RelayPlace.target(bound, of: Self.local4) else {
                Issue.record("no name")
                return
            }
        }
    }
}
