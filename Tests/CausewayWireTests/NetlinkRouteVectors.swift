import CausewayTypes
import CausewayWire

/// Test vectors: route messages and their decoded values.
enum NetlinkRouteVectors {
    typealias Vector = NetlinkDecoderTests.Vector
    typealias Tests = NetlinkDecoderTests

    static let all: [Vector] = [
        Vector(
            name: "default route, as bytes on a little-endian machine",
            bytes: [
                0x3C, 0, 0, 0, 0x18, 0, 2, 0, 1, 0, 0, 0, 0x39, 5, 0, 0,  // header: 60 bytes, RTM_NEWROUTE
                2, 0, 0, 0, 0xFE, 0x10, 0, 1, 0, 0, 0, 0,  // IPv4 /0, table 254, DHCP, unicast
                8, 0, 0x0F, 0, 0xFE, 0, 0, 0,  // RTA_TABLE 254
                8, 0, 6, 0, 100, 0, 0, 0,  // RTA_PRIORITY 100
                8, 0, 5, 0, 192, 0, 2, 1,  // RTA_GATEWAY 192.0.2.1
                8, 0, 4, 0, 2, 0, 0, 0,  // RTA_OIF 2
            ],
            expected: .route(
                route { route in
                    route.origin = 16
                    route.metric.priority = 100
                    route.nextHops = [NetlinkRoute.NextHop(gateway: Tests.v4, interfaceIndex: 2)]
                })),
        Vector(
            name: "IPv6 network on the link, with path MTU, in a table above 255",
            bytes: NetlinkBytes.message(
                type: 24,
                NetlinkBytes.route(
                    family: 10, prefix: 64, table: 252, NetlinkBytes.attribute(1, Tests.v6Bytes),
                    NetlinkBytes.attribute(15, NetlinkBytes.host(UInt32(51820))),
                    NetlinkBytes.attribute(4, NetlinkBytes.host(Int32(7))),
                    NetlinkBytes.attribute(7, Tests.v6Bytes),
                    NetlinkBytes.attribute(
                        8,
                        NetlinkBytes.attribute(2, NetlinkBytes.host(UInt32(1280)))
                            + NetlinkBytes.attribute(10, NetlinkBytes.host(UInt32(64)))))),
            expected: .route(
                route(family: .ipv6, prefix: 64) { route in
                    route.destination.address = Tests.v6
                    route.table = 51820
                    route.mtu = 1280
                    route.preferredSource = Tests.v6
                    route.nextHops = [NetlinkRoute.NextHop(interfaceIndex: 7)]
                })),
        Vector(
            name: "IPv4 via an IPv6 router whose interface is down",
            bytes: NetlinkBytes.message(
                type: 24,
                NetlinkBytes.route(
                    family: 2, flags: 0x11,
                    NetlinkBytes.attribute(18, NetlinkBytes.host(UInt16(10)) + Tests.v6Bytes),
                    NetlinkBytes.attribute(4, NetlinkBytes.host(Int32(3))))),
            expected: .route(
                route(flags: NetlinkRoute.Flags(rawValue: 0x11)) { route in
                    route.nextHops = [
                        NetlinkRoute.NextHop(gateway: Tests.v6, interfaceIndex: 3, flags: [.dead, .linkDown])
                    ]
                })),
        Vector(
            name: "a router of an unknown family is omitted from the next hop",
            bytes: NetlinkBytes.message(
                type: 24,
                NetlinkBytes.route(
                    family: 2, NetlinkBytes.attribute(18, NetlinkBytes.host(UInt16(0x110A)) + Tests.v6Bytes),
                    NetlinkBytes.attribute(4, NetlinkBytes.host(Int32(3))))),
            expected: .route(route { $0.nextHops = [NetlinkRoute.NextHop(interfaceIndex: 3)] })),
        Vector(
            name: "several next hops",
            bytes: NetlinkBytes.message(
                type: 25,
                NetlinkBytes.route(
                    family: 2,
                    NetlinkBytes.attribute(
                        9,
                        NetlinkBytes.nextHop(
                            extraWeight: 9, index: 2,
                            NetlinkBytes.attribute(18, NetlinkBytes.host(UInt16(10)) + Tests.v6Bytes),
                            NetlinkBytes.attribute(22, []))
                            + NetlinkBytes.nextHop(
                                flags: 4, index: 3, NetlinkBytes.attribute(5, Tests.v4Bytes))))),
            expected: .routeRemoved(
                route { route in
                    route.nextHops = [
                        NetlinkRoute.NextHop(gateway: Tests.v6, interfaceIndex: 2, weight: 10),
                        NetlinkRoute.NextHop(gateway: Tests.v4, interfaceIndex: 3, flags: .onLink),
                    ]
                })),
        Vector(
            name: "unreachable default",
            bytes: NetlinkBytes.message(type: 24, NetlinkBytes.route(family: 10, kind: 7)),
            expected: .route(route(family: .ipv6) { $0.kind = .unreachable })),
        Vector(
            name: "multicast routing table",
            bytes: NetlinkBytes.message(type: 24, NetlinkBytes.route(family: 128, prefix: 200)),
            expected: .other(type: 24)),
    ]

    private static func route(
        family: InternetAddress.Family = .ipv4, prefix: Int = 0, flags: NetlinkRoute.Flags = [],
        _ change: (inout NetlinkRoute) -> Void = { _ in }
    ) -> NetlinkRoute {
        var route = NetlinkRoute(family: family, prefixLength: prefix, origin: 3, flags: flags)
        change(&route)
        return route
    }
}
