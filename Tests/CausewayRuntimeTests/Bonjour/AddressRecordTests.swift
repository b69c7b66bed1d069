import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayRuntime

@Suite("Address records that a host announces on a link")
struct AddressRecordTests {
    private static func own(_ address: String, _ flags: NetlinkAddress.Flags = []) -> NetlinkAddress {
        let four = IPv4Address(address).map { InternetAddress.ipv4($0) }
        let address = four ?? .ipv6(IPv6Address(address)!)
        return NetlinkAddress(interfaceIndex: 2, address: address, prefixLength: 16, flags: flags)
    }

    private static func told(_ addresses: NetlinkAddress...) -> [String] {
        LinkDriver.addressRecords(of: "alpha.local", at: addresses).map { $0.data.description }
    }

    @Test("C70 C37: valid addresses of the interface, each with the cache-flush bit")
    func valid() {
        let records = LinkDriver.addressRecords(
            of: "alpha.local", at: [Self.own("10.0.0.1"), Self.own("fe80::1"), Self.own("fe80::2", .tentative)])
        #expect(records.map { $0.data.description } == ["10.0.0.1", "fe80::1"])
        #expect(records.allSatisfy { $0.flushesCache && $0.name == "alpha.local" })
        #expect(Self.told(Self.own("10.0.0.1", .duplicate), Self.own("10.0.0.2", .deprecated)).isEmpty)
    }

    @Test(
        "A link is as old as its youngest address; without a creation time, or directly after boot, it is new"
    )
    func age() {
        func upheaval(_ created: [UInt32?], at now: Duration) -> Duration {
            LinkDriver.upheaval(
                of: created.map { time in
                    var address = Self.own("10.0.0.1")
                    address.created = time
                    return address
                }, at: now)
        }
        #expect(upheaval([1_000, 20_000], at: .seconds(300)) == .seconds(200))
        #expect(upheaval([1_000, nil], at: .seconds(300)) == .seconds(300))
        #expect(upheaval([], at: .seconds(300)) == .seconds(300))
        #expect(upheaval([1_000], at: .seconds(100)) == .seconds(100))
        // The kernel's tick clock can be slightly ahead of the other clock, as in this case.
        #expect(upheaval([30_003], at: .seconds(300)) == .seconds(300))
        // The tick counter wraps around after 497 days.
        #expect(
            upheaval([.max - 999], at: .milliseconds(42_949_672_960 + 10_000)) == .milliseconds(42_949_672_960 - 10_000)
        )
    }

    @Test("C102: a link-local IPv4 address is announced only without a routable address")
    func linkLocal() {
        #expect(Self.told(Self.own("169.254.7.7"), Self.own("fe80::1")) == ["169.254.7.7", "fe80::1"])
        #expect(Self.told(Self.own("169.254.7.7"), Self.own("10.0.0.1")) == ["10.0.0.1"])
        #expect(Self.told(Self.own("169.254.7.7"), Self.own("10.0.0.1", .deprecated)) == ["169.254.7.7"])
    }
}
