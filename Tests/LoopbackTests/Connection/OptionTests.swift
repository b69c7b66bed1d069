import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Options of the socket")
    struct OptionTests {
        @Test("TCP options are applied on both sides", arguments: Medium.internetStreams)
        func tcp(medium: Medium) async throws {
            func tune(_ parameters: NWParameters) {
                guard let tcp = parameters.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options else {
                    return
                }
                tcp.noDelay = true
                tcp.enableKeepalive = true
                tcp.keepaliveIdle = 77
                tcp.keepaliveInterval = 11
                tcp.keepaliveCount = 5
                tcp.connectionDropTime = 33
                tcp.maximumSegmentSize = 900
                tcp.retransmitFinDrop = true
            }
            try await Pair.with(medium, client: tune, server: tune) { pair in
                let expected: [(SocketOption, Int)] = [
                    (.noDelay, 1), (.keepalive, 1), (.keepaliveIdle, 77), (.keepaliveInterval, 11),
                    (.keepaliveCount, 5),
                    (.userTimeout, 33_000), (.finTimeout, 5),
                ]
                for (option, value) in expected {
                    #expect(pair.client.option(option) == value, "\(option.name)")
                    #expect(pair.server.option(option) == value, "\(option.name), accepted")
                }
                // Each segment also contains TCP options. The kernel subtracts their size from the maximum segment
                // size, so the value can be below 900.
                #expect((pair.client.option(.maximumSegment) ?? .max) <= 900)
                try await pair.client.deliver(Data.pattern(100_000))
                #expect(try await pair.server.receive(100_000, 100_000).data == .pattern(100_000))
            }
        }

        @Test("By default Nagle's algorithm is on and keepalive off")
        func defaults() async throws {
            try await Pair.with(.tcp4) { pair in
                #expect(pair.client.option(.noDelay) == 0)
                #expect(pair.client.option(.keepalive) == 0)
                #expect(pair.client.option(.userTimeout) == 0)
                #expect(pair.client.option(.ipv4TrafficClass) == 0)
            }
        }

        @Test("IP options are applied", arguments: [Medium.tcp4, .tcp6, .udp4, .udp6])
        func ip(medium: Medium) async throws {
            func tune(_ parameters: NWParameters) {
                guard let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options else { return }
                ip.hopLimit = 7
                ip.disableFragmentation = true
                parameters.serviceClass = .interactiveVoice
            }
            try await Pair.with(medium, client: tune, server: tune) { pair in
                let isV6 = medium.family == .ipv6
                for probe in [pair.client, pair.server] {
                    #expect(probe.option(isV6 ? .ipv6HopLimit : .ipv4TimeToLive) == 7)
                    #expect(probe.option(isV6 ? .ipv6TrafficClass : .ipv4TrafficClass) == 46 << 2)
                    #expect(probe.option(.priority) == 6)
                    #expect(probe.option(isV6 ? .ipv6DontFragment : .ipv4PathDiscovery) == (isV6 ? 1 : 2))
                }
            }
        }

        @Test("useMinimumMTU limits IPv6 packets to 1,280 bytes")
        func minimumMTU() async throws {
            func tune(_ parameters: NWParameters) {
                let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
                ip?.useMinimumMTU = true
                ip?.disableFragmentation = true
            }
            try await Pair.with(.udp6, client: tune) { pair in
                #expect(pair.client.connection.maximumDatagramSize == 1_280 - 48)
                try await pair.client.deliver(Data(count: 1_280 - 48))
                #expect(try await pair.client.send(Data(count: 1_280 - 47)).next() == .posix(.EMSGSIZE))
            }
        }

        @Test("The IP version restricts a connection")
        func version() async throws {
            let listener = ListenerProbe(try NWListener(using: .tcp))
            try await listener.listen()
            for (version, host) in [
                (NWProtocolIP.Options.Version.v4, NWEndpoint.Host.ipv6(.loopback)), (.v6, .ipv4(.loopback)),
            ] {
                let parameters = NWParameters.tcp
                let ip = try #require(parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)
                ip.version = version
                let client = Probe(to: .hostPort(host: host, port: listener.port), using: parameters).start()
                let state = try await client.states.first { $0 != .preparing }
                switch state {
                case .waiting, .failed: break
                default: Issue.record("\(state)")
                }
                try await client.cancel()
            }
            try await listener.cancel()
        }

        @Test("A required local endpoint is the connection's local address", arguments: [Medium.tcp4, .udp4])
        func localEndpoint(medium: Medium) async throws {
            // The port must be free for this protocol, and on all addresses: if another test has bound a socket to the
            // wildcard address, that socket has its port everywhere.
            let free = RawSocket(try Socket.open(.ipv4, medium.isStream ? .stream : .datagram))
            try Socket.bind(free.fd, to: .ipv4(bits: 0, port: 0))
            let port = try #require(NWEndpoint.Port(rawValue: free.port))
            free.close()
            let local = NWEndpoint.hostPort(host: "127.0.0.3", port: port)
            func tune(_ parameters: NWParameters) { parameters.requiredLocalEndpoint = local }
            try await Pair.with(medium, client: tune) { pair in
                #expect(pair.client.connection.currentPath?.localEndpoint == local)
                #expect(pair.server.connection.endpoint == local)
            }
        }

        @Test("allowLocalEndpointReuse lets two connections share a local port")
        func localReuse() async throws {
            let (first, second) = (try ListenerProbe(.tcp4), try ListenerProbe(.tcp4))
            try await first.listen()
            try await second.listen()
            let parameters = NWParameters.tcp
            parameters.allowLocalEndpointReuse = true
            let one = Probe(to: first.endpoint, using: parameters).start()
            try await one.ready()
            let local = try #require(one.connection.currentPath?.localEndpoint)
            let shared = NWParameters.tcp
            shared.allowLocalEndpointReuse = true
            shared.requiredLocalEndpoint = local
            let two = Probe(to: second.endpoint, using: shared).start()
            try await two.ready()
            #expect(two.connection.currentPath?.localEndpoint == local)
            let strict = NWParameters.tcp
            strict.requiredLocalEndpoint = local
            let third = Probe(to: second.endpoint, using: strict).start()
            try await third.states.expect(.preparing, .waiting(.posix(.EADDRINUSE)))
            for probe in [one, two, third] { try await probe.cancel() }
            try await first.cancel()
            try await second.cancel()
        }

        @Test("A required interface is used", arguments: [Medium.tcp4, .udp6])
        func requiredInterface(medium: Medium) async throws {
            let loopback = try #require(NWInterface(name: "lo"))
            func tune(_ parameters: NWParameters) { parameters.requiredInterface = loopback }
            try await Pair.with(medium, client: tune, server: tune) { pair in
                #expect(pair.client.connection.currentPath?.availableInterfaces == [loopback])
            }
        }

        @Test(
            "A missing required interface leads to waiting with ENETDOWN",
            arguments: [Medium.tcp4, .udp6])
        func absentInterface(medium: Medium) async throws {
            let parameters = medium.parameters
            parameters.requiredInterface = NWInterface(name: "absent0", index: 4_711, type: .wiredEthernet)
            let host = try #require(medium.loopback)
            let client = Probe(to: .hostPort(host: host, port: 9), using: parameters).start()
            try await client.states.expect(.preparing, .waiting(.posix(.ENETDOWN)))
            try await client.cancel()
        }

        @Test("A prohibited interface is not used", arguments: [0, 1, 2])
        func prohibitedInterface(way: Int) async throws {
            let loopback = try #require(NWInterface(name: "lo"))
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            let parameters = NWParameters.tcp
            switch way {
            case 0: parameters.prohibitedInterfaces = [loopback]
            case 1: parameters.prohibitedInterfaceTypes = [.loopback]
            default: parameters.requiredInterfaceType = .wifi
            }
            let client = Probe(to: listener.endpoint, using: parameters).start()
            let state = try await client.states.first { $0 != .preparing }
            #expect(state == .waiting(.posix(.ENETDOWN)))
            try await client.cancel()
            try await listener.cancel()
        }
    }
}
