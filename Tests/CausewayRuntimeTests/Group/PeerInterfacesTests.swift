import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("The interfaces of connections from a group")
    struct PeerInterfacesTests {
        private static let loopback = NWInterface(name: "lo", index: 1, type: .loopback)
        private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
        private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)
        private static let all = [loopback, ethernet, wifi]
        private static let peer = SocketAddress.ipv4(bits: 0xC000_0201, port: 7)

        private static func link(_ interface: NWInterface) -> NetlinkLink {
            let flags: NetlinkLink.Flags = interface.type == .loopback ? [.up, .running, .loopback] : [.up, .running]
            var link = NetlinkLink(index: interface.index, hardwareType: 1, flags: flags)
            link.name = interface.name
            return link
        }

        private static func address(_ bits: UInt32, on interface: NWInterface) -> NetlinkAddress {
            NetlinkAddress(
                interfaceIndex: interface.index, address: .ipv4(IPv4Address(bits: bits)), prefixLength: 24)
        }

        private static func route(_ gateway: UInt32, _ interface: NWInterface, metric: UInt32) -> NetlinkRoute {
            var route = NetlinkRoute(family: .ipv4)
            route.metric.priority = metric
            route.nextHops = [
                .init(gateway: .ipv4(IPv4Address(bits: gateway)), interfaceIndex: interface.index)
            ]
            return route
        }

        /// Returns a host with two networks, of which the first is preferred.
        private static func model(_ overrides: String) -> NetworkModel {
            var local = NetlinkRoute(
                family: .ipv4, destination: .ipv4(IPv4Address(bits: 0x7F00_0000)), prefixLength: 8,
                table: NetlinkRoute.localTable, kind: .local, scope: .host)
            local.nextHops = [.init(interfaceIndex: loopback.index)]
            let state = NetlinkState(
                links: all.map { link($0) },
                addresses: [address(0x0A00_0005, on: ethernet), address(0x0A01_0005, on: wifi)],
                routes: [
                    local, route(0x0A00_0001, ethernet, metric: 100), route(0x0A01_0001, wifi, metric: 200),
                ])
            return NetworkModel(state, overrides: InterfaceOverrides(parsing: overrides)) { link in
                all.first { $0.index == link.index }
            }
        }

        struct Row: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var overrides = ""
            let outgoing: UInt32?
            let accepted: [UInt32]
            let change: @Sendable (inout SocketSettings) -> Void
        }

        static let rows = [
            Row(testDescription: "nothing excluded", outgoing: 0, accepted: [1, 2, 3]) {
                $0.prohibitsExpensive = true
            },
            Row(
                testDescription: "expensive Ethernet", overrides: "eth0=expensive", outgoing: 3, accepted: [1, 3]
            ) { $0.prohibitsExpensive = true },
            Row(
                testDescription: "both expensive", overrides: "eth0=expensive,wlan0=expensive", outgoing: nil,
                accepted: [1]
            ) { $0.prohibitsExpensive = true },
            Row(testDescription: "constrained", overrides: "wlan0=constrained", outgoing: 0, accepted: [1, 2]) {
                $0.prohibitsConstrained = true
            },
            Row(testDescription: "prohibited type", outgoing: 3, accepted: [1, 3]) {
                $0.prohibitedInterfaceTypes = [.wiredEthernet]
            },
            // An interface that was removed and created again has another index.
            Row(testDescription: "prohibited interface", outgoing: 3, accepted: [1, 3]) {
                $0.prohibitedInterfaces = [NWInterface(name: "eth0", index: 9, type: .wiredEthernet)]
            },
            Row(testDescription: "required interface", outgoing: 3, accepted: [3]) { $0.requiredInterface = wifi },
            Row(testDescription: "required interface without a link", outgoing: nil, accepted: []) {
                $0.requiredInterface = NWInterface(name: "tun0", index: 4, type: .other)
            },
        ]

        @Test("A connection from a group uses only interfaces that the group's parameters permit", arguments: rows)
        func limits(_ row: Row) {
            var settings = SocketSettings(transport: .udp)
            settings.allowsUltraConstrained = true
            row.change(&settings)
            let limits = PeerInterfaces(settings)
            #expect(limits.outgoing(toward: Self.peer) == nil && !limits.accepts(from: 1))
            limits.changed(to: Self.model(row.overrides))
            // The second result was stored.
            let outgoing = (0..<2).map { _ in limits.outgoing(toward: Self.peer) }
            #expect(outgoing == [row.outgoing, row.outgoing])
            #expect([UInt32](1...4).filter { limits.accepts(from: $0) } == row.accepted)
        }

        @Test("A connection from a group knows its interfaces also if the network monitor's first snapshot fails")
        func failedSnapshot() async {
            let lookCount = LockedValue(0)
            let changes = NetworkChangeMonitor(context: .init(follow: { _ in nil }, after: { _, _ in }))
            let monitor = NetworkStateMonitor(changes: changes) { _, _ -> NetworkModel? in
                let number = lookCount.withLock { count -> Int in
                    count += 1
                    return count
                }
                return number == 1 ? nil : Self.model("")
            }
            var settings = SocketSettings(transport: .udp)
            settings.allowsUltraConstrained = true
            settings.requiredInterface = Self.wifi
            let limits = PeerInterfaces(settings)
            limits.follow(monitor)
            await Engine.networkLoop.run {}
            #expect(limits.accepts(from: 3) && !limits.accepts(from: 2))
            #expect(limits.outgoing(toward: Self.peer) == 3)
        }

        @Test("A connection from a group follows an interface that becomes expensive, and back")
        func change() throws {
            var settings = SocketSettings(transport: .udp)
            settings.requiredInterfaceType = .loopback
            settings.prohibitsExpensive = true
            let limits = PeerInterfaces(settings)
            let loop = ManualLoop()
            let descriptor = try settings.openGroupSocket(.ipv4, port: 0)
            let port = try #require(Socket.localAddress(descriptor.rawValue)).port
            let socket = try SharedDatagramSocket(descriptor, on: loop, limits: limits) { _, _ in }
            let sender = try Socket.open(.ipv4, .datagram)
            try Socket.bind(sender.rawValue, to: .ipv4(bits: 0x7F00_0001, port: 0))
            let peer = try #require(Socket.localAddress(sender.rawValue))
            _ = try Socket.connect(sender.rawValue, to: .ipv4(bits: 0x7F00_0001, port: port))
            let flow = try #require(socket.adopt(peer, source: nil))
            flow.attach(.peer(socket, peer), owner: Stage.Owner(Log(), SharedDelivery.on(.main).delivery))
            flow.begin()
            let steps = [("", IOResult.moved(1)), ("lo=expensive", .failed(Errno.networkUnreachable)), ("", .moved(1))]
            for (overrides, result) in steps {
                limits.changed(to: Self.model(overrides))
                #expect(Self.send(socket, to: peer) == result)
                #expect([UInt8(7)].withUnsafeBytes { Socket.send(sender.rawValue, $0) } == .moved(1))
                loop.report(.readable, of: Registration(token: 1))
                #expect((flow.takeDatagram() != nil) == (result == .moved(1)))
            }
            socket.forget(peer)
            socket.stop()
        }

        private static func send(_ socket: SharedDatagramSocket, to peer: SocketAddress) -> IOResult {
            withPieces([Data([1])], from: 0) { pieces in
                withUnsafeTemporaryAllocation(of: OutgoingPacket.self, capacity: 1) { packets in
                    packets.initializeElement(
                        at: 0, to: OutgoingPacket(pieces: pieces, segmentByteCount: 0, trafficClass: nil))
                    return socket.send(UnsafeBufferPointer(packets), to: peer)
                }
            }
        }
    }
}
