import Dispatch
import Testing

@testable import Causeway

@Suite("Protocol options")
struct ProtocolOptionTests {
    @Test("IP options have Apple's defaults")
    func ipDefaults() throws {
        let options = try #require(NWParameters.tcp.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)
        #expect(options.version == .any)
        #expect(options.hopLimit == 0)
        #expect(!options.useMinimumMTU)
        #expect(!options.disableFragmentation)
        #expect(!options.shouldCalculateReceiveTime)
        #expect(options.localAddressPreference == .default)
        #expect(!options.disableMulticastLoopback)
    }

    typealias TCPMember<Value> = any ReferenceWritableKeyPath<NWProtocolTCP.Options, Value> & Sendable

    static let tcpSwitches: [(String, TCPMember<Bool>)] = [
        ("noDelay", \.noDelay), ("noPush", \.noPush), ("noOptions", \.noOptions),
        ("enableKeepalive", \.enableKeepalive), ("retransmitFinDrop", \.retransmitFinDrop),
        ("disableAckStretching", \.disableAckStretching), ("enableFastOpen", \.enableFastOpen),
        ("disableECN", \.disableECN),
    ]

    static let tcpNumbers: [(String, TCPMember<Int>)] = [
        ("keepaliveCount", \.keepaliveCount), ("keepaliveIdle", \.keepaliveIdle),
        ("keepaliveInterval", \.keepaliveInterval), ("maximumSegmentSize", \.maximumSegmentSize),
        ("connectionTimeout", \.connectionTimeout), ("persistTimeout", \.persistTimeout),
        ("connectionDropTime", \.connectionDropTime),
    ]

    @Test("A TCP switch is off at first, changes independently, and is copied", arguments: tcpSwitches)
    func tcpSwitch(name: String, path: TCPMember<Bool>) throws {
        let options = NWProtocolTCP.Options()
        #expect(!options[keyPath: path])
        options[keyPath: path] = true
        #expect(Self.tcpSwitches.map { options[keyPath: $0.1] } == Self.tcpSwitches.map { $0.0 == name })
        #expect(Self.tcpNumbers.allSatisfy { options[keyPath: $0.1] == 0 })
        let copy = try #require(options.copyOptions() as? NWProtocolTCP.Options)
        #expect(copy.values == options.values)
        copy[keyPath: path] = false
        #expect(options[keyPath: path])
    }

    @Test("A TCP number is 0 at first, changes independently, and is copied", arguments: tcpNumbers)
    func tcpNumber(name: String, path: TCPMember<Int>) throws {
        let options = NWProtocolTCP.Options()
        #expect(options[keyPath: path] == 0)
        options[keyPath: path] = 7
        #expect(Self.tcpNumbers.map { options[keyPath: $0.1] } == Self.tcpNumbers.map { $0.0 == name ? 7 : 0 })
        #expect(Self.tcpSwitches.allSatisfy { !options[keyPath: $0.1] })
        let copy = try #require(options.copyOptions() as? NWProtocolTCP.Options)
        copy[keyPath: path] = 8
        #expect(options[keyPath: path] == 7)
        #expect(copy[keyPath: path] == 8)
    }

    @Test("IP options keep their values, and a copy is independent")
    func ipValues() throws {
        let options = NWProtocolIP.Options()
        options.version = .v6
        options.hopLimit = 9
        options.useMinimumMTU = true
        options.disableFragmentation = true
        options.shouldCalculateReceiveTime = true
        options.localAddressPreference = .stable
        options.disableMulticastLoopback = true
        let copy = try #require(options.copyOptions() as? NWProtocolIP.Options)
        #expect(copy.values == options.values)
        copy.version = .v4
        copy.useMinimumMTU = false
        copy.disableMulticastLoopback = false
        #expect(options.version == .v6)
        #expect(options.hopLimit == 9)
        #expect(options.useMinimumMTU)
        #expect(options.disableFragmentation)
        #expect(options.shouldCalculateReceiveTime)
        #expect(options.localAddressPreference == .stable)
        #expect(options.disableMulticastLoopback)
    }

    @Test("UDP options keep their values, and a copy is independent")
    func udpValues() throws {
        let options = NWProtocolUDP.Options()
        #expect(!options.preferNoChecksum)
        options.preferNoChecksum = true
        let copy = try #require(options.copyOptions() as? NWProtocolUDP.Options)
        copy.preferNoChecksum = false
        #expect(options.preferNoChecksum)
    }

    @Test("Security handles are the same on each access, and copies do not share them")
    func securityHandles() throws {
        let options = NWProtocolTLS.Options()
        #expect(options.securityProtocolOptions === options.securityProtocolOptions)
        let copy = try #require(options.copyOptions() as? NWProtocolTLS.Options)
        #expect(copy.securityProtocolOptions !== options.securityProtocolOptions)
    }

    @Test("A copy of QUIC options is independent")
    func quicValues() throws {
        let options = NWProtocolQUIC.Options(alpn: ["h3"])
        #expect(NWProtocolQUIC.Options().alpn.isEmpty)
        #expect(!options.isDatagram)
        options.isDatagram = true
        let copy = try #require(options.copyOptions() as? NWProtocolQUIC.Options)
        #expect(copy.isDatagram)
        copy.alpn.append("hq")
        #expect(options.alpn == ["h3"])
    }

    @Test("Definitions compare by identity and print their names")
    func definitions() {
        let all = [
            NWProtocolIP.definition, NWProtocolTCP.definition, NWProtocolUDP.definition, NWProtocolTLS.definition,
            NWProtocolQUIC.definition,
        ]
        #expect(all.map(\.debugDescription) == ["ip", "tcp", "udp", "tls", "quic"])
        for (row, left) in all.enumerated() {
            #expect(all.map { $0 == left } == all.indices.map { $0 == row })
        }
        #expect(NWProtocolDefinition(name: "tcp") != NWProtocolTCP.definition)
    }
}

@Suite("Options under concurrent use")
struct OptionConcurrencyTests {
    @Test("Readers see only values that were written")
    func readersAndWriters() {
        let options = NWProtocolQUIC.Options(alpn: ["0"])
        let stack = NWParameters(quic: options).defaultProtocolStack
        DispatchQueue.concurrentPerform(iterations: 2_000) { iteration in
            if iteration.isMultiple(of: 2) {
                options.alpn = Array(repeating: "\(iteration)", count: iteration % 7 + 1)
                stack.applicationProtocols = [NWProtocolTLS.Options(), NWProtocolTLS.Options()]
            } else {
                #expect(Set(options.alpn).count == 1)
                #expect([0, 2].contains(stack.applicationProtocols.count))
            }
        }
        #expect(stack.applicationProtocols.count == 2)
    }
}
