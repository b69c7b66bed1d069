import CausewayRuntime
import CausewaySystem
import Testing

@testable import Causeway

@Suite("Socket settings")
struct SocketSettingsTests {
    @Test("Default parameters change no socket option")
    func defaults() throws {
        #expect(try NWParameters.tcp.makeSocketSettings() == SocketSettings(transport: .tcp))
        #expect(try NWParameters.udp.makeSocketSettings() == SocketSettings(transport: .udp))
    }

    /// A test row: one change to the public options, and the change to the internal settings that it must cause. No
    /// other setting may change.
    struct Row<Options, Settings>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (Options) -> Void
        let expected: @Sendable (inout Settings) -> Void

        init(
            _ name: String, _ change: @escaping @Sendable (Options) -> Void,
            _ expected: @escaping @Sendable (inout Settings) -> Void
        ) {
            testDescription = name
            self.change = change
            self.expected = expected
        }
    }

    typealias TCPRow = Row<NWProtocolTCP.Options, SocketSettings.TCP>
    typealias IPRow = Row<NWProtocolIP.Options, SocketSettings.IP>
    typealias ParameterRow = Row<NWParameters, SocketSettings>

    static let tcpRows: [TCPRow] = [
        TCPRow("noDelay", { $0.noDelay = true }, { $0.noDelay = true }),
        TCPRow("noPush", { $0.noPush = true }, { $0.noPush = true }),
        TCPRow("retransmitFinDrop", { $0.retransmitFinDrop = true }, { $0.giveUpUnansweredFin = true }),
        TCPRow("disableAckStretching", { $0.disableAckStretching = true }, { $0.quickAcknowledgements = true }),
        TCPRow("noOptions has no counterpart", { $0.noOptions = true }, { _ in }),
        TCPRow("disableECN has no counterpart", { $0.disableECN = true }, { _ in }),
        TCPRow("enableFastOpen alone", { $0.enableFastOpen = true }, { _ in }),
        TCPRow("keepalive values without the switch", { $0.keepaliveIdle = 5 }, { _ in }),
        TCPRow("keepalive", { $0.enableKeepalive = true }, { $0.keepalive = SocketSettings.Keepalive() }),
        TCPRow("maximumSegmentSize", { $0.maximumSegmentSize = 1_220 }, { $0.maximumSegmentSize = 1_220 }),
        TCPRow("too large a segment", { $0.maximumSegmentSize = 65_535 }, { $0.maximumSegmentSize = 32_767 }),
        TCPRow("connectionTimeout", { $0.connectionTimeout = 5 }, { $0.connectionTimeoutSeconds = 5 }),
        TCPRow("persistTimeout", { $0.persistTimeout = 6 }, { $0.persistTimeoutSeconds = 6 }),
        TCPRow("connectionDropTime", { $0.connectionDropTime = 7 }, { $0.dropTimeSeconds = 7 }),
        TCPRow("too long a timeout", { $0.connectionDropTime = .max }, { $0.dropTimeSeconds = 2_147_483 }),
    ]

    @Test("A TCP option changes its own setting and no other", arguments: tcpRows)
    func tcp(_ row: TCPRow) throws {
        let options = NWProtocolTCP.Options()
        row.change(options)
        var expected = SocketSettings(transport: .tcp)
        row.expected(&expected.tcp)
        #expect(try NWParameters(tls: nil, tcp: options).makeSocketSettings() == expected)
    }

    @Test("Keepalive values reach the kernel within its limits", arguments: [(10, 20, 3), (86_400, .max, 1_000)])
    func keepalive(idle: Int, interval: Int, count: Int) throws {
        let options = NWProtocolTCP.Options()
        options.enableKeepalive = true
        options.keepaliveIdle = idle
        options.keepaliveInterval = interval
        options.keepaliveCount = count
        let settings = try NWParameters(tls: nil, tcp: options).makeSocketSettings()
        let expected = SocketSettings.Keepalive(
            idleSeconds: min(idle, 32_767), intervalSeconds: min(interval, 32_767), count: min(count, 127))
        #expect(settings.tcp.keepalive == expected)
    }

    static let ipRows: [IPRow] = [
        IPRow("version 4", { $0.version = .v4 }, { $0.version = .v4 }),
        IPRow("version 6", { $0.version = .v6 }, { $0.version = .v6 }),
        IPRow("hopLimit", { $0.hopLimit = 3 }, { $0.hopLimit = 3 }),
        IPRow("useMinimumMTU", { $0.useMinimumMTU = true }, { $0.useMinimumMTU = true }),
        IPRow("disableFragmentation", { $0.disableFragmentation = true }, { $0.disableFragmentation = true }),
        IPRow("shouldCalculateReceiveTime", { $0.shouldCalculateReceiveTime = true }, { $0.wantsReceiveTime = true }),
        IPRow("temporary address", { $0.localAddressPreference = .temporary }, { $0.addressPreference = .temporary }),
        IPRow("stable address", { $0.localAddressPreference = .stable }, { $0.addressPreference = .stable }),
        IPRow("multicast", { $0.disableMulticastLoopback = true }, { $0.disableMulticastLoopback = true }),
    ]

    @Test("An IP option changes its own setting and no other", arguments: ipRows)
    func ip(_ row: IPRow) throws {
        let parameters = NWParameters.udp
        row.change(try #require(parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options))
        var expected = SocketSettings(transport: .udp)
        row.expected(&expected.ip)
        #expect(try parameters.makeSocketSettings() == expected)
    }

    private static let interface = NWInterface(name: "test0", index: 900, type: .wifi)

    static let parameterRows: [ParameterRow] = [
        ParameterRow("required interface", { $0.requiredInterface = interface }, { $0.requiredInterface = interface }),
        ParameterRow("required type", { $0.requiredInterfaceType = .wifi }, { $0.requiredInterfaceType = .wifi }),
        ParameterRow(
            "prohibited interfaces", { $0.prohibitedInterfaces = [interface] },
            { $0.prohibitedInterfaces = [interface] }),
        ParameterRow(
            "prohibited types", { $0.prohibitedInterfaceTypes = [.cellular] },
            { $0.prohibitedInterfaceTypes = [.cellular] }),
        ParameterRow("reuse", { $0.allowLocalEndpointReuse = true }, { $0.reuseLocalAddress = true }),
        ParameterRow("accept local only", { $0.acceptLocalOnly = true }, { $0.acceptsLocalOnly = true }),
        ParameterRow("allowFastOpen alone", { $0.allowFastOpen = true }, { $0.allowsFastOpen = true }),
        ParameterRow("multipath", { $0.multipathServiceType = .handover }, { $0.tcp.isMultipath = true }),
        ParameterRow(
            "local IPv4 address", { $0.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: 80) },
            { $0.localAddress = .ipv4(bits: 0x7f00_0001, port: 80) }),
        ParameterRow(
            "local IPv6 address", { $0.requiredLocalEndpoint = .hostPort(host: "::1", port: 80) },
            { $0.localAddress = .ipv6(high: 0, low: 1, port: 80, scope: 0) }),
        ParameterRow(
            "a name for this host", { $0.requiredLocalEndpoint = .hostPort(host: "LocalHost", port: 80) },
            { $0.localAddress = .ipv4(bits: 0x7f00_0001, port: 80) }),
        ParameterRow(
            "local path", { $0.requiredLocalEndpoint = .unix(path: "/run/test") },
            { $0.localAddress = .unix(path: "/run/test") }),
        ParameterRow("no IP options", { $0.defaultProtocolStack.internetProtocol = nil }, { _ in }),
        ParameterRow("peer-to-peer", { $0.includePeerToPeer = true }, { _ in }),
    ]

    @Test("A parameter changes its own setting and no other", arguments: parameterRows)
    func parameter(_ row: ParameterRow) throws {
        let parameters = NWParameters.tcp
        row.change(parameters)
        var expected = SocketSettings(transport: .tcp)
        row.expected(&expected)
        #expect(try parameters.makeSocketSettings() == expected)
    }

    @Test("Fast open must be enabled in TCP options and parameters")
    func fastOpen() throws {
        let options = NWProtocolTCP.Options()
        options.enableFastOpen = true
        let settings = try NWParameters(tls: nil, tcp: options).fastOpenAllowed(true).makeSocketSettings()
        #expect(settings.tcp.fastOpen && settings.allowsFastOpen)
    }

    @Test("A local port without an address works for either family")
    func localPort() throws {
        let parameters = NWParameters.tcp.localPort(80)
        #expect(try parameters.makeSocketSettings().localAddress == .ipv6(high: 0, low: 0, port: 80, scope: 0))
        (parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)?.version = .v4
        #expect(try parameters.makeSocketSettings().localAddress == .ipv4(bits: 0, port: 80))
    }

    @Test("UDP has its own options and no multipath")
    func udp() throws {
        let options = NWProtocolUDP.Options()
        options.preferNoChecksum = true
        var expected = SocketSettings(transport: .udp)
        expected.noChecksum = true
        let parameters = NWParameters(dtls: nil, udp: options).multipathServiceType(.aggregate)
        #expect(try parameters.makeSocketSettings() == expected)
    }

    /// When the kernel sets a buffer size, it doubles the requested size to make room for its own data.
    @Test(
        "A UDP socket has a receive buffer of 8 MiB, or of the maximum that the host allows",
        arguments: [SocketAddress.Family.ipv4, .ipv6])
    func datagramReceiveBuffer(_ family: SocketAddress.Family) throws {
        let requested = 8 << 20
        let other = try Socket.open(family, .datagram)
        let initial = try Socket.get(.receiveBuffer, of: other.rawValue)
        #expect(initial < requested)
        var expected = 2 * requested
        // If the process does not have the capability CAP_NET_ADMIN, the kernel limits the size to net.core.rmem_max.
        if (try? Socket.set(.forcedReceiveBuffer, to: requested, on: other.rawValue)) == nil {
            try Socket.set(.receiveBuffer, to: requested, on: other.rawValue)
            expected = try Socket.get(.receiveBuffer, of: other.rawValue)
        }
        let socket = try SocketSettings(transport: .udp).openSocket(family)
        #expect(try Socket.get(.receiveBuffer, of: socket.rawValue) == expected)
        let stream = try SocketSettings(transport: .tcp).openSocket(family)
        #expect(try Socket.get(.receiveBuffer, of: stream.rawValue) < expected)
    }

    static let classes: [(NWParameters.ServiceClass, UInt8, Int)] = [
        (.bestEffort, 0, 0), (.background, 8, 2), (.interactiveVideo, 34, 4), (.interactiveVoice, 46, 6),
        (.responsiveData, 18, 4), (.signaling, 24, 6),
    ]

    @Test("A service class marks packets and orders the queue", arguments: classes)
    func serviceClass(serviceClass: NWParameters.ServiceClass, dscp: UInt8, priority: Int) throws {
        let settings = try NWParameters.udp.serviceClass(serviceClass).makeSocketSettings()
        #expect(settings.ip.dscp == dscp)
        #expect(settings.ip.priority == priority)
    }
}
