import CausewaySystem
import CausewayTypes
import CausewayWire
import Testing

@Suite("Local peers")
struct NetworkLocalityTests {
    @Test(arguments: ["127.0.0.1", "127.8.9.1", "169.254.3.4"])
    func ownAndLinkLocalIPv4IsLocal(_ text: String) throws {
        #expect(NetworkPathFacts.isLocal(.ipv4(try #require(IPv4Address(text)))))
    }

    @Test(arguments: ["::1", "fe80::1"])
    func ownAndLinkLocalIPv6IsLocal(_ text: String) throws {
        #expect(NetworkPathFacts.isLocal(.ipv6(try #require(IPv6Address(text)))))
    }

    /// Tests addresses from documentation prefixes. No interface of a test machine has such an address (RFC 5737 §3,
    /// RFC 3849 §2).
    @Test func strangersAreNot() throws {
        #expect(!NetworkPathFacts.isLocal(.ipv4(try #require(IPv4Address("203.0.113.77")))))
        #expect(!NetworkPathFacts.isLocal(.ipv6(try #require(IPv6Address("2001:db8:77::1")))))
    }

    @Test func everyAddressOfAnInterfaceIsLocal() throws {
        let snapshot = try NetworkSnapshot.current()
        let addresses = snapshot.interfaces.flatMap(\.addresses).map(\.address)
        #expect(!addresses.isEmpty)
        for address in addresses { #expect(NetworkPathFacts.isLocal(address)) }
    }
}
