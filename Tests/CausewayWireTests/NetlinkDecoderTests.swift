import CausewayTypes
import CausewayWire
import Testing

@Suite("Netlink decoder")
struct NetlinkDecoderTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let expected: NetlinkMessage
        var testDescription: String { name }
    }

    static let v4 = InternetAddress.ipv4(IPv4Address(bits: 0xC000_0201))
    static let v4Peer = InternetAddress.ipv4(IPv4Address(bits: 0xC000_0202))
    static let v4Bytes: [UInt8] = [192, 0, 2, 1]
    static let v4PeerBytes: [UInt8] = [192, 0, 2, 2]
    static let v6 = InternetAddress.ipv6(IPv6Address(high: 0xFE80 << 48, low: 1))
    static let v6Bytes: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]

    static let controlVectors: [Vector] = [
        Vector(name: "no operation", bytes: NetlinkBytes.message(type: 1), expected: .noOperation),
        Vector(
            name: "acknowledgement", bytes: NetlinkBytes.message(type: 2, NetlinkBytes.host(Int32(0))),
            expected: .error(status: 0)),
        Vector(
            name: "failure followed by the request",
            bytes: NetlinkBytes.message(
                type: 2,
                NetlinkBytes.host(Int32(-13)) + NetlinkBytes.message(type: 18, [UInt8](repeating: 0, count: 16))),
            expected: .error(status: -13)),
        Vector(
            name: "end", bytes: NetlinkBytes.message(type: 3, NetlinkBytes.host(Int32(0))), expected: .done(status: 0)),
        Vector(name: "end without status", bytes: NetlinkBytes.message(type: 3), expected: .done(status: 0)),
        Vector(
            name: "end with a failure", bytes: NetlinkBytes.message(type: 3, NetlinkBytes.host(Int32(-90))),
            expected: .done(status: -90)),
        Vector(name: "overrun", bytes: NetlinkBytes.message(type: 4), expected: .overrun),
        Vector(name: "address label", bytes: NetlinkBytes.message(type: 72, [9, 9]), expected: .other(type: 72)),
    ]

    static let linkVectors: [Vector] = [
        Vector(
            name: "Ethernet, as bytes on a little-endian machine",
            bytes: [
                0x48, 0, 0, 0, 0x10, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,  // header: 72 bytes, RTM_NEWLINK, sequence 7
                0, 0, 1, 0, 2, 0, 0, 0, 0x43, 0x10, 1, 0, 0, 0, 0, 0,  // ARPHRD_ETHER, index 2, flags 0x11043
                9, 0, 3, 0, 0x65, 0x74, 0x68, 0x30, 0, 0, 0, 0,  // IFLA_IFNAME "eth0"
                8, 0, 4, 0, 0xDC, 5, 0, 0,  // IFLA_MTU 1500
                5, 0, 0x10, 0, 6, 0, 0, 0,  // IFLA_OPERSTATE up
                10, 0, 1, 0, 2, 0, 0, 0, 0, 9, 0, 0,  // IFLA_ADDRESS 02:00:00:00:00:09
            ],
            expected: .link(
                link(2, flags: [.up, .broadcast, .running, .multicast, .lowerUp]) { link in
                    link.name = "eth0"
                    link.mtu = 1500
                    link.operationalState = .up
                    link.hardwareAddress = [2, 0, 0, 0, 0, 9]
                })),
        Vector(
            name: "bridge port removed",
            bytes: NetlinkBytes.message(type: 17, NetlinkBytes.link(family: 7, index: 5)),
            expected: .linkRemoved(link(5, family: .bridge))),
        Vector(
            name: "virtual link in a bridge, with unknown attributes and nesting marks",
            bytes: NetlinkBytes.message(
                type: 16,
                NetlinkBytes.link(
                    index: 9,
                    NetlinkBytes.attribute(
                        0x8000 | 18, [4, 0, 0, 0] + NetlinkBytes.attribute(1, Array("veth\0".utf8))),
                    NetlinkBytes.attribute(10, NetlinkBytes.host(Int32(3))),
                    NetlinkBytes.attribute(16, [200]),
                    NetlinkBytes.attribute(999, [1, 2, 3]))),
            expected: .link(
                link(9) { link in
                    link.kind = "veth"
                    link.controller = 3
                })),
        Vector(
            name: "a malformed name is repaired, an unterminated one is read completely",
            bytes: NetlinkBytes.message(
                type: 16, NetlinkBytes.link(index: 1, NetlinkBytes.attribute(3, [0x61, 0xFF, 0x62]))),
            expected: .link(link(1) { $0.name = "a\u{FFFD}b" })),
    ]

    static let addressVectors: [Vector] = [
        Vector(
            name: "IPv4 with label",
            bytes: NetlinkBytes.message(
                type: 20,
                NetlinkBytes.address(
                    family: 2, prefix: 24, flags: 0x80, index: 2,
                    NetlinkBytes.attribute(1, v4Bytes), NetlinkBytes.attribute(2, v4Bytes),
                    NetlinkBytes.attribute(3, Array("eth0:1\0".utf8)),
                    NetlinkBytes.attribute(
                        6, [UInt32.max, .max, 7_000, 9_000].flatMap { NetlinkBytes.host($0) }))),
            expected: .address(
                NetlinkAddress(
                    interfaceIndex: 2, address: v4, prefixLength: 24, flags: .permanent, label: "eth0:1",
                    created: 7_000))),
        Vector(
            name: "IPv4 on a point-to-point link",
            bytes: NetlinkBytes.message(
                type: 20,
                NetlinkBytes.address(
                    family: 2, prefix: 32, index: 4,
                    NetlinkBytes.attribute(1, v4PeerBytes), NetlinkBytes.attribute(2, v4Bytes))),
            expected: .address(NetlinkAddress(interfaceIndex: 4, address: v4, prefixLength: 32, peer: v4Peer))),
        Vector(
            name: "IPv6 whose flags do not fit the header",
            bytes: NetlinkBytes.message(
                type: 20,
                NetlinkBytes.address(
                    family: 10, prefix: 64, flags: 0xC0, scope: 253, index: 2, NetlinkBytes.attribute(1, v6Bytes),
                    NetlinkBytes.attribute(8, NetlinkBytes.host(UInt32(0x861))))),
            expected: .address(
                NetlinkAddress(
                    interfaceIndex: 2, address: v6, prefixLength: 64, scope: .link,
                    flags: [.temporary, .deprecated, .tentative, NetlinkAddress.Flags(rawValue: 0x800)]))),
        Vector(
            name: "IPv6 removed",
            bytes: NetlinkBytes.message(
                type: 21,
                NetlinkBytes.address(family: 10, prefix: 128, index: 3, NetlinkBytes.attribute(1, v6Bytes))),
            expected: .addressRemoved(NetlinkAddress(interfaceIndex: 3, address: v6, prefixLength: 128))),
        Vector(
            name: "another family",
            bytes: NetlinkBytes.message(type: 20, NetlinkBytes.address(family: 12, prefix: 200, index: 3)),
            expected: .other(type: 20)),
    ]

    @Test("Messages", arguments: controlVectors + linkVectors + addressVectors + NetlinkRouteVectors.all)
    func decodes(_ vector: Vector) throws {
        var decoder = NetlinkDecoder(vector.bytes.span)
        #expect(try decoder.next()?.message == vector.expected)
        #expect(try decoder.next() == nil)
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let expected: WireError
        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(
            name: "message shorter than its header",
            bytes: NetlinkBytes.host(UInt32(15)) + [UInt8](repeating: 0, count: 12),
            expected: .invalid("message length", at: 0)),
        Malformed(
            name: "message longer than the datagram",
            bytes: NetlinkBytes.host(UInt32.max) + [UInt8](repeating: 0, count: 20),
            expected: .truncated(needed: Int(UInt32.max), available: 24, at: 0)),
        Malformed(
            name: "interface index 0", bytes: NetlinkBytes.message(type: 16, NetlinkBytes.link(index: 0)),
            expected: .invalid("interface index", at: 20)),
        Malformed(
            name: "attribute shorter than its header",
            bytes: NetlinkBytes.message(type: 16, NetlinkBytes.link(index: 1, NetlinkBytes.host(UInt16(3)) + [0, 0])),
            expected: .invalid("attribute length", at: 32)),
        Malformed(
            name: "attribute longer than its message",
            bytes: NetlinkBytes.message(
                type: 16, NetlinkBytes.link(index: 1, NetlinkBytes.host(UInt16(9)) + [3, 0, 1, 1, 1, 1])),
            expected: .truncated(needed: 5, available: 4, at: 36)),
        Malformed(
            name: "IPv4 prefix of 33 bits",
            bytes: NetlinkBytes.message(
                type: 20, NetlinkBytes.address(family: 2, prefix: 33, index: 1, NetlinkBytes.attribute(1, v4Bytes))),
            expected: .invalid("prefix length", at: 17)),
        Malformed(
            name: "IPv4 address of 5 bytes",
            bytes: NetlinkBytes.message(
                type: 20,
                NetlinkBytes.address(family: 2, prefix: 8, index: 1, NetlinkBytes.attribute(1, [1, 2, 3, 4, 5]))),
            expected: .invalid("address length", at: 32)),
        Malformed(
            name: "IPv6 address of 4 bytes",
            bytes: NetlinkBytes.message(
                type: 20, NetlinkBytes.address(family: 10, prefix: 8, index: 1, NetlinkBytes.attribute(1, v4Bytes))),
            expected: .truncated(needed: 16, available: 4, at: 28)),
        Malformed(
            name: "address message without an address",
            bytes: NetlinkBytes.message(type: 20, NetlinkBytes.address(family: 2, prefix: 8, index: 1)),
            expected: .invalid("missing address", at: 16)),
        Malformed(
            name: "next hop shorter than its header",
            bytes: NetlinkBytes.message(
                type: 24,
                NetlinkBytes.route(
                    family: 2, NetlinkBytes.attribute(9, NetlinkBytes.host(UInt16(7)) + [0, 0, 1, 0, 0, 0]))),
            expected: .invalid("next hop length", at: 32)),
        Malformed(
            name: "next hop longer than its list",
            bytes: NetlinkBytes.message(
                type: 24,
                NetlinkBytes.route(
                    family: 2, NetlinkBytes.attribute(9, NetlinkBytes.host(UInt16(16)) + [0, 0, 1, 0, 0, 0]))),
            expected: .truncated(needed: 14, available: 6, at: 34)),
    ]

    @Test("Malformed messages have a position", arguments: malformed)
    func refuses(_ row: Malformed) {
        #expect(throws: row.expected) {
            var decoder = NetlinkDecoder(row.bytes.span)
            _ = try decoder.next()
        }
    }

    @Test("A malformed message does not affect others; broken framing ends the datagram")
    func recovers() throws {
        let good = NetlinkBytes.message(type: 4)
        let bad = NetlinkBytes.message(type: 16, NetlinkBytes.link(index: 0))
        let bytes = bad + good + NetlinkBytes.host(UInt32(2)) + good
        var decoder = NetlinkDecoder(bytes.span)
        #expect(Self.outcome(&decoder) == .failure(.invalid("interface index", at: 20)))
        #expect(Self.outcome(&decoder) == .success(.overrun))
        #expect(Self.outcome(&decoder) == .failure(.invalid("message length", at: bad.count + good.count)))
        #expect(try decoder.next() == nil)
    }

    @Test("Consecutive messages start at multiples of 4, and include their headers")
    func walks() throws {
        let odd = NetlinkBytes.message(type: 72, flags: 0x12, sequence: 3, [1])
        let bytes = odd + NetlinkBytes.message(type: 1, sequence: 4)
        var decoder = NetlinkDecoder(bytes.span)
        let first = try #require(try decoder.next())
        #expect(first.header.length == 17)
        #expect(first.header.sequence == 3)
        #expect(first.header.flags == [.multipart, .dumpInterrupted])
        #expect(try decoder.next()?.header.sequence == 4)
        #expect(try decoder.next() == nil)
    }

    private static func outcome(
        _ decoder: inout NetlinkDecoder
    ) -> Result<NetlinkMessage?, WireError> {
        do throws(WireError) {
            return .success(try decoder.next()?.message)
        } catch {
            return .failure(error)
        }
    }

    private static func link(
        _ index: Int, family: InternetAddress.Family = .unspecified, flags: NetlinkLink.Flags = [],
        _ change: (inout NetlinkLink) -> Void = { _ in }
    ) -> NetlinkLink {
        var link = NetlinkLink(family: family, index: index, hardwareType: 1, flags: flags)
        change(&link)
        return link
    }
}
