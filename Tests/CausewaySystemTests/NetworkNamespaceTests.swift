import CausewaySystem
import CausewayTypes
import CausewayWire
import Glibc
import Testing

@Suite(
    "Namespace: the kernel's network state",
    .enabled(if: NetworkNamespace.isAvailable, "network namespaces need root and ip(8)"))
struct NamespaceNetworkTests {
    /// Runs `body` with two connected interfaces: `cw0`, which is tested, and its other end.
    private static func withPair(_ body: (NetworkNamespace) async throws -> Void) async throws {
        try await NetworkNamespace.with { namespace in
            try namespace.ip("link add cw0 type veth peer name cw1")
            try namespace.ip("link set cw0 mtu 1400 address 02:00:00:00:00:09")
            try namespace.ip("link set cw0 up")
            _ = try await Self.snapshot(of: namespace, after: "link set cw1 up") { snapshot in
                Self.isRunning("cw0", in: snapshot)
            }
            try namespace.ip("addr add 192.0.2.1/24 dev cw0")
            try namespace.ip("-6 addr add 2001:db8::1/64 dev cw0 nodad")
            try await body(namespace)
        }
    }

    /// Runs an ip(8) command, and returns the first snapshot after it that satisfies `isExpected`. The kernel updates
    /// the state of a link's other end later, and reports it when it has also updated the addresses and the routes.
    private static func snapshot(
        of namespace: NetworkNamespace, after command: String,
        where isExpected: @escaping @Sendable (NetworkSnapshot) -> Bool
    ) async throws -> NetworkSnapshot {
        try await namespace.enter { () throws -> NetworkSnapshot in
            let changes = try NetlinkSocket(groups: .all)
            var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)
            try namespace.ip(command)
            while true {
                let snapshot = try NetworkSnapshot.current()
                if isExpected(snapshot) { return snapshot }
                _ = try changes.receive(into: &buffer)
            }
        }
    }

    private static func isRunning(_ name: String, in snapshot: NetworkSnapshot) -> Bool {
        snapshot.interfaces.contains { $0.interface.name == name && $0.isRunning }
    }

    @Test("Source addresses are cached until an address or a route changes")
    func sourceAddresses() async throws {
        try await Self.withPair { namespace in
            // Make all queries on one thread in the namespace. The socket that receives network changes belongs to this
            // thread.
            let memory = LockedValue(SourceAddressMemory())
            let sources = { @Sendable () -> [String?] in
                let destinations: [SocketAddress] = [
                    .ipv4(bits: 0xC000_0202, port: 0), .ipv6(high: 0x2001_0DB8_0000_0000, low: 9, port: 0, scope: 0),
                    .ipv4(bits: 0xC633_6401, port: 443),
                ]
                return memory.withLock { $0.sources(toward: destinations, over: nil) }
                    .map { $0.map { "\($0.address)/\($0.prefixLength) \($0.isDeprecated)" } }
            }
            #expect(try await namespace.enter(sources) == ["192.0.2.1/24 false", "2001:db8::1/64 false", nil])
            #expect(try await namespace.enter(sources) == ["192.0.2.1/24 false", "2001:db8::1/64 false", nil])
            try namespace.ip("route add default via 192.0.2.9 dev cw0")
            #expect(try await namespace.enter(sources).last == "192.0.2.1/24 false")
            try namespace.ip("-6 addr change 2001:db8::1/64 dev cw0 nodad preferred_lft 0")
            #expect(try await namespace.enter(sources)[1] == "2001:db8::1/64 true")
            try namespace.ip("addr del 192.0.2.1/24 dev cw0")
            #expect(try await namespace.enter(sources).first == .some(nil))
        }
    }

    @Test("Interfaces with flags, MTU, MAC and addresses")
    func interfaces() async throws {
        try await Self.withPair { namespace in
            try namespace.ip("addr add 10.9.0.1 peer 10.9.0.2/32 dev cw1")
            try namespace.ip("-6 addr add 2001:db8::2/64 dev cw0 nodad preferred_lft 0")
            let snapshot = try await namespace.enter { try NetworkSnapshot.current() }

            #expect(Set(snapshot.interfaces.map(\.interface.name)) == ["lo", "cw0", "cw1"])
            #expect(snapshot.interfaces.map(\.interface.index) == snapshot.interfaces.map(\.interface.index).sorted())
            let lo = try #require(snapshot.interfaces.first { $0.isLoopback })
            #expect(lo.addresses.map(\.address) == [.ipv4(.loopback), .ipv6(.loopback)])
            #expect(lo.addresses.map(\.prefixLength) == [8, 128])
            #expect(lo.hardwareAddress == nil)

            let one = try #require(snapshot.interfaces.first { $0.interface.name == "cw0" })
            #expect(one.isUp && one.isRunning && one.supportsMulticast && !one.isLoopback && !one.isPointToPoint)
            #expect(one.mtu == 1400)
            #expect(one.hardwareAddress == "02:00:00:00:00:09")
            #expect(one.link.kind == "veth")
            #expect(one.link.operationalState == .up)
            let byText = Dictionary(grouping: one.addresses) { $0.address.description }.compactMapValues(\.first)
            let v4 = try #require(byText["192.0.2.1"])
            #expect(v4.prefixLength == 24 && v4.scope == .universe && v4.isUsable && v4.peer == nil)
            #expect(v4.flags.contains(.permanent))
            #expect(v4.label == "cw0")
            let v6 = try #require(byText["2001:db8::1"])
            #expect(v6.prefixLength == 64 && v6.isUsable && !v6.flags.contains(.deprecated))
            #expect(byText["2001:db8::2"]?.flags.contains(.deprecated) == true)
            let linkLocal = try #require(byText["fe80::ff:fe00:9%cw0"])
            #expect(linkLocal.scope == .link && linkLocal.prefixLength == 64)

            let other = try #require(snapshot.interfaces.first { $0.interface.name == "cw1" })
            let tunnel = try #require(other.addresses.first { $0.address.family == .ipv4 })
            #expect(tunnel.address.description == "10.9.0.1")
            #expect(tunnel.peer?.description == "10.9.0.2")
            #expect(tunnel.prefixLength == 32)
        }
    }

    @Test("Default routes: metrics, multipath, a router of the other family, and unreachable routes")
    func routes() async throws {
        try await Self.withPair { namespace in
            try namespace.ip("route add default via 192.0.2.254 metric 100")
            try namespace.ip("route add default metric 7 nexthop via 192.0.2.9 weight 2 nexthop via 192.0.2.8")
            try namespace.ip("-4 route add default via inet6 fe80::1 dev cw0 metric 50")
            try namespace.ip("route add unreachable default metric 1")
            try namespace.ip("route add 198.51.100.0/24 via 192.0.2.200")
            try namespace.ip("route add default via 192.0.2.77 table 900")
            try namespace.ip("-6 route add default via 2001:db8::fe metric 9")
            let (snapshot, gateways) = try await namespace.enter {
                let snapshot = try NetworkSnapshot.current()
                let interface = snapshot.interfaces.first { $0.interface.name == "cw0" }?.interface
                return (snapshot, interface.map { NetworkPathFacts.gateways(of: $0) } ?? [])
            }
            let expected = [
                "192.0.2.9", "192.0.2.8", "fe80::1%cw0", "192.0.2.254", "192.0.2.77", "2001:db8::fe",
            ]
            #expect(snapshot.defaultRoutes.map { $0.gateway?.description } == expected)
            #expect(snapshot.defaultRoutes.map(\.priority) == [7, 7, 50, 100, 0, 9])
            #expect(snapshot.defaultRoutes.map(\.table) == [254, 254, 254, 254, 900, 254])
            #expect(snapshot.defaultRoutes.map(\.family) == [.ipv4, .ipv4, .ipv4, .ipv4, .ipv4, .ipv6])
            #expect(snapshot.defaultRoutes.allSatisfy { $0.interface.name == "cw0" })
            #expect(gateways.map(\.description) == expected)

            let after = try await Self.snapshot(of: namespace, after: "link set cw1 down") { snapshot in
                // The snapshot lists the routes after the links, so the state of the link may be the older one.
                snapshot.defaultRoutes.isEmpty && !Self.isRunning("cw0", in: snapshot)
            }
            #expect(after.interfaces.contains { $0.interface.name == "cw0" })
        }
    }

    @Test("Facts about a connection's path from its local address")
    func facts() async throws {
        try await Self.withPair { namespace in
            let addresses = [
                "192.0.2.1", "127.0.0.1", "127.9.9.9", "192.0.2.2", "0.0.0.0", "2001:db8::1", "::1", "::ffff:192.0.2.1",
                "2001:db8::77", "::",
            ]
            let names = try await namespace.enter {
                addresses.map { text -> String? in
                    if let address = IPv4Address(text) { return NetworkPathFacts.interface(holding: address)?.name }
                    return IPv6Address(text).flatMap { NetworkPathFacts.interface(holding: $0) }?.name
                }
            }
            #expect(names == ["cw0", "lo", "lo", nil, nil, "cw0", "lo", "cw0", nil, nil])

            let families = try await namespace.enter {
                ["lo", "cw0", "cw1"].map { name in
                    NWInterface(name: name).map { NetworkPathFacts.families(of: $0) } ?? []
                }
            }
            #expect(families == [[.ipv4, .ipv6], [.ipv4, .ipv6], []])
        }
    }

    @Test("A listing that needs many datagrams arrives completely")
    func longListing() async throws {
        try await Self.withPair { namespace in
            try namespace.ip(batch: (0..<1000).map { "addr add 10.1.\($0 / 250).\($0 % 250 + 1)/32 dev cw1" })
            let snapshot = try await namespace.enter { try NetworkSnapshot.current() }
            let listed = snapshot.interfaces.flatMap(\.addresses).filter { $0.prefixLength == 32 }
            #expect(Set(listed.map(\.address)).count == 1000)
        }
    }

    @Test("Listings during changes contain everything that did not change")
    func churn() async throws {
        try await Self.withPair { namespace in
            let changes = (0..<4000).map { step in
                "addr \(step % 2 == 0 ? "add" : "del") 10.2.\(step / 2 % 200).1/32 dev cw1"
            }
            let process = try namespace.start("ip", batch: changes)
            let counts = try await namespace.enter { () throws -> [Int] in
                var counts: [Int] = []
                repeat {
                    let snapshot = try NetworkSnapshot.current()
                    let stable = ["192.0.2.1", "2001:db8::1", "127.0.0.1", "::1"]
                    let texts = snapshot.interfaces.flatMap(\.addresses).map(\.address.description)
                    counts.append(stable.filter(texts.contains).count)
                } while process.isRunning
                return counts
            }
            #expect(counts.allSatisfy { $0 == 4 })
        }
    }

    @Test("Changes are reported, and silence is not a change")
    func notifications() async throws {
        try await Self.withPair { namespace in
            let heard = try await namespace.enter { () throws -> [Bool] in
                let socket = try NetlinkSocket(groups: .all, blocking: false)
                let changes = [
                    "link set cw1 mtu 1300", "addr add 10.3.0.1/24 dev cw1",
                    "-6 addr add 2001:db8:3::1/64 dev cw1 nodad",
                    "route add 198.51.100.0/24 via 192.0.2.200", "-6 route add 2001:db8:9::/48 via 2001:db8::fe",
                    "rule add from 10.3.0.1 table 900", "link set cw1 down", "link del cw0",
                ]
                return try changes.map { change in
                    _ = try socket.drainChanges()
                    try namespace.ip(change)
                    return try socket.drainChanges()
                }
            }
            #expect(heard == [Bool](repeating: true, count: 8))

        }
        try await NetworkNamespace.with { namespace in
            let isChanged = try await namespace.enter {
                try NetlinkSocket(groups: .all, blocking: false).drainChanges()
            }
            #expect(!isChanged)
        }
    }

    @Test("A flood that overflows the socket counts as a change, and the socket stays usable")
    func overrun() async throws {
        // Use the loopback interface. Other links report changes of their own later, for example when the detection of
        // duplicate addresses ends.
        try await NetworkNamespace.with { namespace in
            try await namespace.enter {
                let socket = try NetlinkSocket(groups: .all, blocking: false)
                try namespace.ip(batch: (0..<4000).map { "addr add 10.4.\($0 / 250).\($0 % 250 + 1)/32 dev lo" })
                var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)
                var receptions: [NetlinkSocket.Reception] = []
                while receptions.last != .nothing { receptions.append(try socket.receive(into: &buffer)) }
                #expect(receptions.contains(.overrun))
                #expect(try !socket.drainChanges())
                try namespace.ip("link set lo mtu 1300")
                #expect(try socket.drainChanges())
            }
        }
    }

    @Test("A bridge's notifications are not changes, but an overflow by them is: a change may be lost")
    func irrelevantFlood() async throws {
        try await NetworkNamespace.with { namespace in
            // Leave all interfaces down. If a link came up, it would send more notifications a second later.
            try namespace.ip("link add cw0 type veth peer name cw1")
            try namespace.ip("link add cwbridge type bridge")
            try namespace.ip("link set cw1 master cwbridge")
            let heard = try await namespace.enter { () throws -> [Bool] in
                let socket = try NetlinkSocket(groups: .all, blocking: false)
                return try [1, 4000].map { count in
                    let reports = (1...count).map { "link set dev cw1 cost \($0 + 10)" }
                    try namespace.run("bridge", batch: reports)
                    return try socket.drainChanges()
                }
            }
            #expect(heard == [false, true])
        }
    }

    @Test("A datagram longer than the buffer is reported as truncated, with its length")
    func truncation() async throws {
        try await Self.withPair { namespace in
            try await namespace.enter {
                let socket = try NetlinkSocket()
                try socket.send(.links, sequence: 1)
                var buffer = [UInt8](repeating: 0, count: 64)
                guard case .truncated(let length) = try socket.receive(into: &buffer) else {
                    Issue.record("the listing fitted into 64 bytes")
                    return
                }
                #expect(length > 64)
            }
        }
    }

    @Test("A message from another process does not count as the kernel's")
    func forgery() async throws {
        // Use the loopback interface, which reports only changes that this test makes.
        try await NetworkNamespace.with { namespace in
            try await namespace.enter {
                let socket = try NetlinkSocket(groups: .all, blocking: false)
                var address = [UInt8](repeating: 0, count: 12)  // struct sockaddr_nl
                var length = socklen_t(address.count)
                let named = address.withUnsafeMutableBytes {
                    getsockname(socket.rawValue, $0.bindMemory(to: sockaddr.self).baseAddress!, &length)
                }
                #expect(named == 0)
                let sender = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0)
                defer { close(sender) }
                // This netlink message RTM_NEWRULE comes from another process, not from the kernel. It must not count
                // as a network change.
                let message: [UInt8] = [16, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
                address.replaceSubrange(8..<12, with: [0, 0, 0, 0])
                let sent = address.withUnsafeBytes {
                    sendto(sender, message, message.count, 0, $0.bindMemory(to: sockaddr.self).baseAddress!, length)
                }
                #expect(sent == message.count)
                #expect(try !socket.drainChanges())
                try namespace.ip("link set lo mtu 1300")
                #expect(try socket.drainChanges())
            }
        }
    }
}
