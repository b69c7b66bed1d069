import CausewayTypes
import CausewayWire
import Testing

@testable import CausewaySystem

@Suite("Network snapshot, from listings")
struct NetworkSnapshotTests {
    private static let eth = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wlan = NWInterface(name: "wlan0", index: 3, type: .wifi)

    private static func v4(_ bits: UInt32) -> InternetAddress { .ipv4(IPv4Address(bits: bits)) }

    private static func linkLocal(_ low: UInt64, _ interface: NWInterface? = nil) -> InternetAddress {
        .ipv6(IPv6Address(high: 0xFE80 << 48, low: low, interface: interface))
    }

    private static func lookUp(_ index: Int) -> NWInterface? {
        [eth, wlan].first { $0.index == index }
    }

    private static func route(
        _ family: InternetAddress.Family = .ipv4, priority: UInt32 = 0, table: UInt32 = NetlinkRoute.mainTable,
        _ hops: NetlinkRoute.NextHop...
    ) -> NetlinkRoute {
        var route = NetlinkRoute(family: family, table: table)
        route.metric.priority = priority
        route.nextHops = hops
        return route
    }

    @Test("Links are listed with their addresses, by index")
    func assembles() {
        var first = NetlinkLink(index: 2, hardwareType: 1, flags: [.up, .running, .multicast])
        first.name = "eth0"
        var second = NetlinkLink(index: 9, hardwareType: 65534, flags: [.up, .pointToPoint])
        second.name = "tun0"
        let port = NetlinkLink(family: .bridge, index: 2, hardwareType: 1, flags: .up)
        let addresses = [
            NetlinkAddress(interfaceIndex: 9, address: Self.v4(1), prefixLength: 32, peer: Self.linkLocal(7)),
            NetlinkAddress(interfaceIndex: 2, address: Self.v4(2), prefixLength: 24),
            NetlinkAddress(interfaceIndex: 2, address: Self.linkLocal(1), prefixLength: 64, scope: .link),
            NetlinkAddress(interfaceIndex: 77, address: Self.v4(3), prefixLength: 24),
        ]
        let interfaces = NetworkSnapshot.assemble(
            links: [second, port, first], addresses: addresses, lookUp: { Self.lookUp($0.index) })

        #expect(interfaces.map(\.interface.name) == ["eth0", "tun0"])
        #expect(interfaces.map(\.interface.type) == [.wiredEthernet, .other])
        #expect(interfaces[0].addresses.map(\.address) == [Self.v4(2), Self.linkLocal(1, Self.eth)])
        #expect(interfaces[1].addresses.map(\.address) == [Self.v4(1)])
        #expect(interfaces[1].addresses.map(\.peer) == [Self.linkLocal(7, interfaces[1].interface)])
        #expect(interfaces[0].isUp && interfaces[0].isRunning && interfaces[0].supportsMulticast)
        #expect(!interfaces[0].isPointToPoint && interfaces[1].isPointToPoint && !interfaces[1].isRunning)
    }

    @Test("A loopback interface that vanished meanwhile still counts as loopback")
    func vanished() {
        var link = NetlinkLink(index: 50, hardwareType: 772, flags: .loopback)
        link.name = "lo9"
        let interfaces = NetworkSnapshot.assemble(links: [link], addresses: [], lookUp: { _ in nil })
        #expect(interfaces.map(\.interface) == [NWInterface(name: "lo9", index: 50, type: .loopback)])
        #expect(interfaces[0].isLoopback)
    }

    @Test("A hardware address is printed completely, an absent one is not printed")
    func hardwareAddresses() {
        var link = NetlinkLink(index: 2, hardwareType: 1, flags: [])
        let text = { (bytes: [UInt8]) -> String? in
            link.hardwareAddress = bytes
            return NetworkSnapshot.Interface(interface: Self.eth, link: link).hardwareAddress
        }
        #expect(text([2, 0, 0x0A, 0xFF, 0x10, 9]) == "02:00:0a:ff:10:09")
        #expect(text([0, 0, 0, 0, 0, 0]) == nil)
        #expect(text([]) == nil)
    }

    @Test("Default routes: IPv4 before IPv6, the main table first, then by metric, then as listed")
    func ordersRoutes() {
        let routes = [
            Self.route(.ipv6, priority: 1024, .init(gateway: Self.linkLocal(1), interfaceIndex: 3)),
            Self.route(priority: 600, .init(gateway: Self.v4(30), interfaceIndex: 3)),
            Self.route(priority: 0, table: 51820, .init(interfaceIndex: 3)),
            Self.route(
                priority: 100, .init(gateway: Self.v4(10), interfaceIndex: 2),
                .init(gateway: Self.v4(20), interfaceIndex: 3)),
            Self.route(priority: 100, .init(gateway: Self.v4(40), interfaceIndex: 2)),
        ]
        let found = NetworkSnapshot.defaultRoutes(routes, lookUp: Self.lookUp)
        #expect(
            found.map(\.gateway) == [
                Self.v4(10), Self.v4(20), Self.v4(40), Self.v4(30), nil, Self.linkLocal(1, Self.wlan),
            ])
        #expect(found.map(\.interface.index) == [2, 3, 2, 3, 3, 3])
        #expect(found.map(\.priority) == [100, 100, 100, 600, 0, 1024])
        #expect(found[4].table == 51820)
    }

    @Test("Unusable routes are left out")
    func leavesOutDeadRoutes() {
        var blocked = Self.route()
        blocked.kind = .unreachable
        var network = Self.route(.ipv4, .init(gateway: Self.v4(1), interfaceIndex: 2))
        network.destination.length = 8
        var exception = Self.route(.ipv6, .init(gateway: Self.linkLocal(1), interfaceIndex: 2))
        exception.flags = .cloned
        let routes = [
            blocked, network, exception,
            Self.route(.ipv4, .init(gateway: Self.v4(2), interfaceIndex: 2, flags: .dead)),
            Self.route(.ipv4, .init(gateway: Self.v4(3), interfaceIndex: 2, flags: .linkDown)),
            Self.route(.ipv4, .init(gateway: Self.v4(4), interfaceIndex: 99)),
            Self.route(.ipv4, .init(gateway: Self.v4(5))),
            Self.route(.ipv4, .init(gateway: Self.v4(6), interfaceIndex: 2, flags: .onLink)),
        ]
        #expect(NetworkSnapshot.defaultRoutes(routes, lookUp: Self.lookUp).map(\.gateway) == [Self.v4(6)])
    }

    @Test("Each gateway is listed once, of one interface or of all")
    func gateways() {
        let snapshot = NetworkSnapshot(
            defaultRoutes: NetworkSnapshot.defaultRoutes(
                [
                    Self.route(priority: 1, .init(gateway: Self.v4(10), interfaceIndex: 2)),
                    Self.route(priority: 2, .init(gateway: Self.v4(10), interfaceIndex: 2)),
                    Self.route(priority: 3, .init(gateway: Self.v4(20), interfaceIndex: 3)),
                    Self.route(priority: 4, .init(interfaceIndex: 2)),
                ], lookUp: Self.lookUp))
        #expect(snapshot.gateways() == [Self.v4(10), Self.v4(20)])
        #expect(snapshot.gateways(of: Self.eth) == [Self.v4(10)])
        #expect(snapshot.gateways(of: Self.wlan) == [Self.v4(20)])
    }

    @Test("Only link-scoped IPv6 addresses need an interface")
    func scoping() {
        let global = InternetAddress.ipv6(IPv6Address(high: 0x2001_0DB8 << 32, low: 1))
        let group = InternetAddress.ipv6(IPv6Address(high: 0xFF02 << 48, low: 0xFB))
        let scopedGroup = InternetAddress.ipv6(IPv6Address(high: 0xFF02 << 48, low: 0xFB, interface: Self.eth))
        #expect(Self.v4(0xA9FE_0001).scoped(to: Self.eth) == Self.v4(0xA9FE_0001))
        #expect(global.scoped(to: Self.eth) == global)
        #expect(Self.linkLocal(1).scoped(to: Self.eth) == Self.linkLocal(1, Self.eth))
        #expect(group.scoped(to: Self.eth) == scopedGroup)
    }
}
