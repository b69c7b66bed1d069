import CausewayProtocols
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
    private static let tunnel = NWInterface(name: "tun0", index: 5, type: .other)
    private static let all = [loopback, ethernet, wifi, bridge, tunnel]

    private static func link(_ interface: NWInterface, flags: NetlinkLink.Flags = [.up, .running]) -> NetlinkLink {
        let loopback: NetlinkLink.Flags = interface.type == .loopback ? .loopback : []
        var link = NetlinkLink(index: interface.index, hardwareType: 1, flags: flags.union(loopback))
        link.name = interface.name
        return link
    }

    private static func route(_ interface: NWInterface, _ gateway: IPv4Address?, priority: UInt32 = 100) -> NetlinkRoute
    {
        var route = NetlinkRoute(family: .ipv4)
        route.metric.priority = priority
        route.nextHops = [.init(gateway: gateway.map { .ipv4($0) }, interfaceIndex: interface.index)]
        return route
    }

    private static func model(_ links: [NetlinkLink], _ routes: [NetlinkRoute]) -> NetworkModel {
        NetworkModel(NetlinkState(links: links, routes: routes), nameServers: [.ipv4(router)]) { link in
            all.first { $0.index == link.index }
        }
    }

    private static let router = IPv4Address(bits: 0xc000_0201)
    private static let home = model(
        [loopback, ethernet, wifi, bridge].map { link($0) },
        [route(wifi, router), route(ethernet, router, priority: 200)])

    @Test("Interfaces with a default route count, in the order of the routes")
    func satisfied() {
        let path = NWPath(Self.home, policy: .any)
        #expect(path.status == .satisfied)
        #expect(path.availableInterfaces == [Self.wifi, Self.ethernet])
        #expect(path.gateways == [.hostPort(host: .ipv4(Self.router), port: .any)])
        #expect(path.supportsIPv4 && !path.supportsIPv6 && path.supportsDNS)
        #expect(path.usesInterfaceType(.wifi) && !path.usesInterfaceType(.wiredEthernet))
        #expect(path.localEndpoint == nil && path.remoteEndpoint == nil)
    }

    @Test("A path over a tunnel also uses the interface below the tunnel")
    func tunnel() {
        let path = NWPath(
            Self.model(
                [Self.link(Self.wifi), Self.link(Self.tunnel)],
                [Self.route(Self.tunnel, nil, priority: 50), Self.route(Self.wifi, Self.router)]), policy: .any)
        #expect(path.availableInterfaces == [Self.tunnel, Self.wifi])
        #expect(path.usesInterfaceType(.other) && path.usesInterfaceType(.wifi) && !path.usesInterfaceType(.cellular))
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

    @Test("A policy excludes interfaces; without any interface there is no path", arguments: choices)
    func policies(policy: PathPolicy, interfaces: [NWInterface]) {
        let path = NWPath(Self.home, policy: policy)
        #expect(path.availableInterfaces == interfaces)
        #expect(path.status == (interfaces.isEmpty ? .unsatisfied : .satisfied))
        #expect(path.supportsDNS == !interfaces.isEmpty)
    }

    @Test(
        "An interface without a carrier, or that is down, is not used",
        arguments: [[.up], [.running], []] as [NetlinkLink.Flags])
    func down(flags: NetlinkLink.Flags) {
        let model = Self.model([Self.link(Self.wifi, flags: flags)], [Self.route(Self.wifi, Self.router)])
        #expect(NWPath(model, policy: .any) == NWPath(status: .unsatisfied))
    }

    @Test("Without a router the path is unsatisfied, and lists the permitted interfaces that have an address")
    func withoutRouter() {
        let address = NetlinkAddress(
            interfaceIndex: Self.ethernet.index, address: .ipv6(IPv6Address(high: 0xFE80 << 48, low: 1)),
            prefixLength: 64, scope: .link)
        let links = [Self.loopback, Self.ethernet, Self.wifi].map { Self.link($0) }
        let model = NetworkModel(NetlinkState(links: links, addresses: [address])) { link in
            Self.all.first { $0.index == link.index }
        }
        let path = NWPath(model, policy: .any)
        #expect(path.status == .unsatisfied && path.availableInterfaces == [Self.ethernet])
        #expect(!path.supportsIPv4 && !path.supportsIPv6 && !path.supportsDNS)
        #expect(NWPath(model, policy: .excluding([.wiredEthernet])).availableInterfaces.isEmpty)
        #expect(NWPath(model, policy: .only(.wiredEthernet)).availableInterfaces == [Self.ethernet])
    }

    @Test(
        "A name of multicast DNS needs a link, other names a route to all destinations",
        arguments: [("printer.local", NetworkNeed.link), ("Printer.LOCAL.", .link), ("local.example", .name)])
    func needs(name: String, need: NetworkNeed) {
        #expect(NWConnection(host: .name(name, nil), port: 80, using: .tcp).driver.networkNeed == need)
    }

    @Test("A monitor that was not started has no path, and a cancelled one reports none")
    func unstarted() async {
        let monitor = NWPathMonitor()
        #expect(monitor.currentPath.status == .unsatisfied)
        #expect(monitor.queue == nil)
        monitor.cancel()
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == nil)
    }

    @Test("A stopped watch takes no listener, so an iterator that is made during `cancel()` ends")
    func stopped() {
        let watch = PathWatch(.any)
        watch.stop()
        #expect(watch.listen({ _ in Issue.record("reported a path after the end") }) == nil)
    }
}
