import Testing

@testable import Causeway

@Suite("Paths")
struct NWPathTests {
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)

    static let descriptions: [(NWPath, String)] = [
        (
            NWPath(
                status: .satisfied, availableInterfaces: [ethernet, wifi], supportsIPv4: true, supportsIPv6: true,
                supportsDNS: true),
            "satisfied (Path is satisfied), interface: eth0, ipv4, ipv6, dns"
        ),
        (
            NWPath(
                status: .satisfied, availableInterfaces: [wifi], isExpensive: true, isConstrained: true,
                isUltraConstrained: true, supportsIPv4: true),
            "satisfied (Path is satisfied), interface: wlan0, ipv4, expensive, constrained, ultra constrained"
        ),
        (NWPath(status: .unsatisfied), "unsatisfied (No network route)"),
        (NWPath(status: .unsatisfied, unsatisfiedReason: .vpnInactive), "unsatisfied (VPN inactive)"),
        (NWPath(status: .requiresConnection), "requires connection (Path would come up on demand)"),
    ]

    @Test("A path describes itself", arguments: descriptions)
    func description(path: NWPath, text: String) {
        #expect(path.debugDescription == text)
    }

    @Test("A path uses the type of its first interface")
    func usesInterfaceType() {
        let path = NWPath(status: .satisfied, availableInterfaces: [Self.ethernet, Self.wifi])
        #expect(path.usesInterfaceType(.wiredEthernet))
        #expect(!path.usesInterfaceType(.wifi))
        #expect(!NWPath(status: .unsatisfied).usesInterfaceType(.other))
    }

    @Test("Properties without information have their defaults")
    func defaults() {
        let path = NWPath(status: .unsatisfied)
        #expect(path.unsatisfiedReason == .notAvailable)
        #expect(path.linkQuality == .unknown)
        #expect(path.gateways.isEmpty)
        #expect(path.localEndpoint == nil && path.remoteEndpoint == nil)
    }

    @Test("Equality also covers members that the description does not show")
    func equality() {
        let gateway = NWEndpoint.hostPort(host: "192.0.2.1", port: .any)
        #expect(NWPath(status: .satisfied) == NWPath(status: .satisfied))
        #expect(NWPath(status: .satisfied) != NWPath(status: .satisfied, gateways: [gateway]))
        #expect(NWPath(status: .satisfied) != NWPath(status: .satisfied, linkQuality: .good))
        #expect(NWPath(status: .satisfied) != NWPath(status: .satisfied, isConstrained: true))
    }
}
