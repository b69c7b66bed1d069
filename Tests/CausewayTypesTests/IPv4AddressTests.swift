import CausewayTypes
import Foundation
import Testing

@Suite("IPv4Address")
struct IPv4AddressTests {
    @Test(
        "Accepts the forms that getaddrinfo treats as numeric",
        arguments: [
            ("192.0.2.1", 0xc000_0201), ("0.0.0.0", 0), ("255.255.255.255", 0xffff_ffff),
            ("127.1", 0x7f00_0001), ("127.0.1", 0x7f00_0001), ("1.65535", 0x0100_ffff), ("1.2.65535", 0x0102_ffff),
            ("2130706433", 0x7f00_0001), ("4294967295", 0xffff_ffff), ("0", 0), ("00", 0),
            ("0x7f.1", 0x7f00_0001), ("0X7F000001", 0x7f00_0001), ("0xC0.0x0.0x2.0x01", 0xc000_0201),
            ("010.0.0.1", 0x0800_0001), ("0377.0377.0377.0377", 0xffff_ffff), ("00000000000001.2.3.4", 0x0102_0304),
        ] as [(String, UInt32)])
    func accepts(text: String, bits: UInt32) {
        #expect(IPv4Address(text)?.bits == bits)
    }

    @Test(
        "Rejects all other text",
        arguments: [
            "", " ", ".", "1.", ".1", "1..2", "1.2.3.", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "1.256.1.1", "1.2.256.1",
            "1.2.3.256", "1.2.65536", "1.16777216", "4294967296", "99999999999999999999", "0x100000000", "0x", "0x.1",
            "0xg", "08.1.1.1", "09", "1a", "a", "-1", "+1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\n", "1.2.3.4\0", "1,2",
            "1.2.3.4/8", "::1", "::ffff:1.2.3.4", "localhost", "１.2.3.4", "1.2.3.4%", "1.2.3.4%nonesuch", "1.2.3.4%1",
            "%lo", "1.2.3.4%lo%lo", "1.2.3.4%lo\0",
        ])
    func rejects(text: String) {
        #expect(IPv4Address(text) == nil)
    }

    @Test("Agrees with the C library on any text", arguments: 0..<40)
    func agreesWithLibrary(seed: Int) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("00112579.....xXaf")
        var accepted = 0
        for _ in 0..<500 {
            let text = random.text(of: alphabet, upTo: 14)
            let expected = bitsFromLibrary(text)
            #expect(IPv4Address(text)?.bits == expected, "\(text)")
            accepted += expected == nil ? 0 : 1
        }
        #expect(accepted > 0)
    }

    @Test("Prints what it parses", arguments: 0..<20)
    func roundTrips(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let address = IPv4Address(bits: .random(in: .min ... .max, using: &random))
            #expect(IPv4Address(address.debugDescription) == address)
            #expect(IPv4Address(address.rawValue) == address)
        }
    }

    @Test("Takes exactly four bytes", arguments: 0...8)
    func takesFourBytes(count: Int) {
        let bytes = Data([9, 9, 192, 0, 2, 1, 7, 7, 7, 7]).dropFirst(2).prefix(count)
        #expect(IPv4Address(bytes)?.debugDescription == (count == 4 ? "192.0.2.1" : nil))
    }

    @Test("Raw bytes are in network byte order")
    func rawBytes() {
        #expect(Array(IPv4Address(bits: 0x0102_0304).rawValue) == [1, 2, 3, 4])
    }

    @Test(
        "Constants",
        arguments: [
            (IPv4Address.any, "0.0.0.0"), (.broadcast, "255.255.255.255"), (.loopback, "127.0.0.1"),
            (.allHostsGroup, "224.0.0.1"), (.allRoutersGroup, "224.0.0.2"), (.allReportsGroup, "224.0.0.22"),
            (.mdnsGroup, "224.0.0.251"),
        ])
    func constants(address: IPv4Address, text: String) {
        #expect("\(address)" == text)
    }

    @Test(
        "Kinds",
        arguments: [
            ("127.0.0.1", true, false, false), ("127.0.0.2", false, false, false), ("126.0.0.1", false, false, false),
            ("169.254.0.0", false, true, false), ("169.254.255.255", false, true, false),
            ("169.253.255.255", false, false, false), ("169.255.0.0", false, false, false),
            ("224.0.0.0", false, false, true), ("239.255.255.255", false, false, true),
            ("223.255.255.255", false, false, false), ("240.0.0.0", false, false, false),
        ])
    func kinds(text: String, isLoopback: Bool, isLinkLocal: Bool, isMulticast: Bool) throws {
        let address = try #require(IPv4Address(text))
        #expect(address.isLoopback == isLoopback)
        #expect(address.isLinkLocal == isLinkLocal)
        #expect(address.isMulticast == isMulticast)
    }

    @Test("The interface is kept, printed, and part of equality")
    func interface() throws {
        let scoped = try #require(IPv4Address("127.0.0.1%lo"))
        #expect(scoped.interface == (try loopbackInterface()))
        #expect(scoped.debugDescription == "127.0.0.1%lo")
        #expect(scoped != .loopback)
        #expect(!scoped.isLoopback)
        #expect(Set([scoped, .loopback, IPv4Address(scoped.rawValue, scoped.interface)]).count == 2)
    }

    private func bitsFromLibrary(_ text: String) -> UInt32? {
        var hints = addrinfo()
        hints.ai_family = AF_INET
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        return list.pointee.ai_addr?.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
        }
    }
}
