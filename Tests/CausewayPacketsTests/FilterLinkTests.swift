import Testing

@testable import CausewayPackets

/// Tests packet filters on link types other than Ethernet. Each test case has its own packets.
@Suite("Filters and links")
struct FilterLinkTests {
    static func matches(_ expression: String, _ type: LinkType, _ bytes: [UInt8]) throws -> Bool {
        try PacketFilter(expression, linkType: type).matches(ByteView(bytes.span))
    }

    /// Returns an 802.11 data frame to an access point, with or without a quality-of-service field. The frame carries
    /// LLC/SNAP and IPv4.
    static func wireless(quality: Bool, padding: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = [quality ? 0x88 : 0x08, 0x01, 0, 0]
        for address: UInt8 in [1, 2, 3] { bytes += [2, 0, 0, 0, 0, address] }
        bytes += [0, 0] + (quality ? [0, 0] : []) + [UInt8](repeating: 0, count: padding)
        return bytes + [0xAA, 0xAA, 3, 0, 0, 0, 8, 0] + FilterTests.tcp("10.0.0.1", "10.0.0.2", port: 80).dropFirst(14)
    }

    @Test("The offset of the 802.11 payload depends on the frame", arguments: [false, true])
    func wirelessData(quality: Bool) throws {
        let frame = Self.wireless(quality: quality)
        #expect(try Self.matches("tcp port 80 and host 10.0.0.1", .wireless, frame))
        #expect(try Self.matches("wlan src 02:00:00:00:00:02", .wireless, frame))
        #expect(try Self.matches("wlan dst 02:00:00:00:00:03 and wlan ra 02:00:00:00:00:01", .wireless, frame))
        #expect(try Self.matches("type data and dir tods and not subtype null", .wireless, frame))
        #expect(try Self.matches("subtype qos-data", .wireless, frame) == quality)
        // In front of the frame, put a radiotap header of eight bytes that has no fields.
        #expect(try Self.matches("tcp port 80", .wirelessRadio, [0, 0, 8, 0, 0, 0, 0, 0] + frame))
    }

    @Test("Radiotap states whether the 802.11 header is padded")
    func padded() throws {
        let radiotap: [UInt8] = [0, 0, 9, 0, 2, 0, 0, 0, 0x20]
        let frame = radiotap + Self.wireless(quality: true, padding: 2)
        // The filter rounds the end of the header up to a multiple of 4, as pcap's filters do. Here, 9 + 26 is 35, and
        // the result is 36.
        #expect(try PacketFilter("ip", linkType: .wirelessRadio).explanation.contains("& 0xfffffffc"))
        #expect(try !Self.matches("ip", .wirelessRadio, frame))
        let aligned: [UInt8] = [0, 0, 12, 0, 2, 0, 0, 0, 0x20, 0, 0, 0]
        #expect(try Self.matches("ip", .wirelessRadio, aligned + Self.wireless(quality: true, padding: 2)))
    }

    @Test("Lengths and bytes can be tested on every link, and nothing else on unknown links")
    func unknownLinks() throws {
        let unknown = LinkType(rawValue: 147)
        #expect(try Self.matches("link[1] = 7 and greater 3", unknown, [1, 7, 9]))
        for expression in ["ip", "not ip", "host 1.2.3.4", "port 80", "vlan", "ether host 02:00:00:00:00:01", "llc"] {
            #expect(throws: FilterError.self) { try PacketFilter(expression, linkType: unknown) }
        }
    }

    @Test("SS7's packed numbers are compared as numbers", arguments: [(4, true), (2, false), (16383, true)])
    func pointCodes(number: UInt32, isAbove: Bool) throws {
        let opc = number
        var unit: [UInt8] = [0, 0, 20, 0x85, 0, 0, 0, 0x90]
        unit[5] |= UInt8(opc & 3) << 6
        unit[6] = UInt8(opc >> 2 & 0xFF)
        unit[7] |= UInt8(opc >> 10)
        #expect(try Self.matches("opc = \(opc) and sls 9 and msu", .mtp2, unit))
        #expect(try Self.matches("opc > 2", .mtp2, unit) == isAbove)
        #expect(throws: FilterError.self) { try PacketFilter("opc 16384", linkType: .mtp2) }
    }

    @Test("Addresses before a VLAN tag keep their offsets")
    func addressesBeforeTags() throws {
        var frame = FilterTests.tcp("10.0.0.1", "10.0.0.2", port: 80)
        frame.insert(contentsOf: [0x81, 0, 0, 5], at: 12)
        #expect(try Self.matches("vlan 5 and ether src 02:00:00:00:00:01 and tcp", .ethernet, frame))
    }

    @Test("The kernel's metadata can be tested in user space")
    func direction() throws {
        var settings = FilterSettings()
        settings.isLive = true
        let frame = FilterTests.tcp("10.0.0.1", "10.0.0.2", port: 80)
        let outbound = try PacketFilter("outbound and ifindex 7", linkType: .ethernet, settings)
        for (direction, interface, expected) in [(UInt8(4), UInt32(7), true), (0, 7, false), (4, 8, false)] {
            let verdict = outbound.matches(
                ByteView(frame.span), originalCount: frame.count, direction: direction, interface: interface)
            #expect(verdict == expected)
        }
        #expect(throws: FilterError.self) { try PacketFilter("outbound", linkType: .ethernet) }
    }

    @Test("Every named link compiles the keywords that its addresses and types allow")
    func names() throws {
        for name in [
            "PPP", "C_HDLC", "FDDI", "ARCNET_LINUX", "DSA_TAG_DSA", "IEEE802_11", "PFLOG", "IPNET", "NETANALYZER",
        ] {
            let type = try #require(LinkType.named(name))
            #expect(type.name == name)
            _ = try PacketFilter("tcp port 80 and host 10.0.0.1", linkType: type)
        }
        #expect(LinkType.named("nothing") == nil)
    }
}
