import CausewaySystem
import CausewayTypes
import CausewayWire
import Testing

@testable import Causeway

@Suite("Paths of a monitor")
struct PathPolicyTests {
    private static let loopback = NWInterface(name: "lo", index: 1, type: .loopback)
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)
    private static let bridge = NWInterface(name: "br0", index: 4, type: .wiredEthernet)

    private static func state(
        _ interface: NWInterface, flags: NetlinkLink.Flags = [.up, .running]
    ) -> NetworkSnapshot.Interface {
        let link = NetlinkLink(family: .unspecified, index: interface.index, hardwareType: 1, flags: flags)
        return NetworkSnapshot.Interface(interface: interface, link: link)
    }

    private static func route(
        _ interface: NWInterface, _ gateway: IPv4Address?, priority: UInt32 = 100
    ) -> NetworkSnapshot.DefaultRoute {
        NetworkSnapshot.DefaultRoute(
            family: .ipv4, gateway: gateway.map { .ipv4($0) }, interface: interface, priority: priority,
            table: NetlinkRoute.mainTable)
    }

    private static let router = IPv4Address(bits: 0xc000_0201)
    private static let home = NetworkSnapshot(
        interfaces: [state(loopback), state(ethernet), state(wifi), state(bridge)],
        defaultRoutes: [route(wifi, router), route(ethernet, router, priority: 200)], dnsServers: [.ipv4(router)])

    @Test("Interfaces with a default route count, in the order of the routes")
    func satisfied() {
        let path = NWPath(Self.home, policy: .any)
        #expect(path.status == .satisfied)
        #expect(path.availableInterfaces == [Self.wifi, Self.ethernet])
        #expect(path.gateways == [.hostPort(host: .ipv4(Self.router), port: .any)])
        #expect(path.supportsIPv4 && !path.supportsIPv6 && path.supportsDNS)
        #expect(path.usesInterfaceType(.wifi))
        #expect(path.localEndpoint == nil)
    }

    static let choices: [(PathPolicy, [NWInterface])] = [
        (.only(.wiredEthernet), [ethernet]),
        (.only(.cellular), []),
        (.only(.loopback), [loopback]),
        (.excluding([.wifi]), [ethernet]),
        (.excluding([.wifi, .wiredEthernet]), []),
        (.excluding([]), [wifi, ethernet]),
        (.ethernet, [wifi, ethernet, bridge]),
    ]

    @Test("A policy leaves out interfaces, and with all of them the path", arguments: choices)
    func policies(policy: PathPolicy, interfaces: [NWInterface]) {
        let path = NWPath(Self.home, policy: policy)
        #expect(path.availableInterfaces == interfaces)
        #expect(path.status == (interfaces.isEmpty ? .unsatisfied : .satisfied))
        #expect(path.supportsDNS == !interfaces.isEmpty)
    }

    @Test(
        "An interface without a carrier, or that is down, carries nothing",
        arguments: [[.up], [.running], []] as [NetlinkLink.Flags])
    func down(flags: NetlinkLink.Flags) {
        let snapshot = NetworkSnapshot(
            interfaces: [Self.state(Self.wifi, flags: flags)], defaultRoutes: [Self.route(Self.wifi, Self.router)])
        #expect(NWPath(snapshot, policy: .any) == NWPath(status: .unsatisfied))
    }

    @Test("A monitor that was not started knows nothing, and one that was cancelled gives no paths")
    func unstarted() async {
        let monitor = NWPathMonitor()
        #expect(monitor.currentPath.status == .unsatisfied)
        #expect(monitor.queue == nil)
        monitor.cancel()
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == nil)
    }
}
