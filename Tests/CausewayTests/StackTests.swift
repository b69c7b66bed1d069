import CausewayProtocols
import Foundation
import Testing

@testable import Causeway

@Suite("Stacks of the structured interface")
struct StackTests {
    private func names(_ parameters: NWParameters) -> String { parameters.defaultProtocolStack.summary }

    @Test("Elements imply the protocols below them")
    func implied() {
        #expect(names(NWParameters(top: TCP())) == "tcp, ip")
        #expect(names(NWParameters(top: TLS())) == "tls, tcp, ip")
        #expect(names(NWParameters(top: UDP())) == "udp, ip")
        #expect(names(NWParameters(top: QUIC(alpn: ["h3"]))) == "quic, ip")
        #expect(names(NWParameters(top: WebSocket { TLS() })) == "websocket, tls, tcp, ip")
        #expect(names(NWParameters(top: TLV { WebSocket { TCP() } })) == "tlv, websocket, tcp, ip")
        #expect(names(NWParameters(top: Coder(String.self, using: .json) { UDP() })) == "coder, udp, ip")
    }

    @Test("Elements inside an element are below it")
    func explicit() throws {
        let stack = TLS { TCP { IP().version(.v6).hopLimit(9) }.noDelay(true) }.applicationProtocols(["h2"])
        let parameters = NWParameters(top: stack)
        #expect(names(parameters) == "tls, tcp, ip")
        let protocols = parameters.defaultProtocolStack
        let ip = try #require(protocols.internetProtocol as? NWProtocolIP.Options)
        #expect(ip.version == .v6 && ip.hopLimit == 9)
        #expect((protocols.transportProtocol as? NWProtocolTCP.Options)?.noDelay == true)
        let tls = try #require(protocols.applicationProtocols.first as? NWProtocolTLS.Options)
        #expect(tls.securityProtocolOptions.values.applicationProtocols == ["h2"])
    }

    @Test("Elements listed next to the top replace those that the top implies")
    func listed() throws {
        let builder = NWParametersBuilder.parameters {
            TLS()
            TCP { IP().version(.v4) }.noDelay(true)
        }
        #expect(names(builder.parameters) == "tls, tcp, ip")
        let stack = builder.parameters.defaultProtocolStack
        #expect((stack.transportProtocol as? NWProtocolTCP.Options)?.noDelay == true)
        #expect((stack.internetProtocol as? NWProtocolIP.Options)?.version == .v4)
        let three = NWParametersBuilder {
            WebSocket { TLS() }
            TLS().ticketsEnabled(false)
            IP().hopLimit(3)
        }
        let layers = three.parameters.defaultProtocolStack
        #expect(names(three.parameters) == "websocket, tls, tcp, ip")
        let tls = layers.applicationProtocols.last as? NWProtocolTLS.Options
        #expect(tls?.securityProtocolOptions.values.switches[.tickets] == false)
        #expect((layers.internetProtocol as? NWProtocolIP.Options)?.hopLimit == 3)
    }

    @Test("Initial parameters provide everything except the stack, and are not changed")
    func initial() {
        let initial = NWParameters.udp
        initial.serviceClass = .background
        let builder = NWParametersBuilder.parameters(initialParameters: initial) { TCP() }.localPort(9)
        #expect(names(builder.parameters) == "tcp, ip")
        #expect(builder.parameters.serviceClass == .background)
        #expect(builder.parameters.requiredLocalEndpoint == .hostPort(host: .ipv6(.any), port: 9))
        #expect(initial.requiredLocalEndpoint == nil)
        #expect(names(initial) == "udp, ip")
        #expect(names(NWParametersBuilder(auto: { UDP() }).parameters) == "udp, ip")
    }

    @Test("A changed element is a copy")
    func values() {
        let plain = TCP()
        let other = plain.keepalive(idleTimeInSeconds: 1, count: 2, intervalInSeconds: 3).maximumSegmentSize(4)
            .connectionTimeout(5).persistTimeout(6).retransmitConnectionDropTime(7).retransmitFinDrop(true)
            .ackStretchingDisabled(true).ecnDisabled(true).fastOpenAllowed(true).noPush(true).noOptions(true)
        #expect(plain.values == NWProtocolTCP.Options.Values())
        let values = other.values
        #expect(values.keepalive.isEnabled)
        #expect([values.keepalive.idle, values.keepalive.count, values.keepalive.interval] as [Int] == [1, 2, 3])
        #expect([values.maximumSegmentSize, values.timeouts.connection] as [Int] == [4, 5])
        #expect([values.timeouts.persist, values.timeouts.connectionDrop] as [Int] == [6, 7])
        #expect(
            values.flags == [
                .retransmitFinDrop, .disableAckStretching, .disableECN, .enableFastOpen, .noPush, .noOptions,
            ])
    }

    @Test("TLS elements keep their settings")
    func tls() throws {
        let element = TLS().peerAuthentication(.optional).cipherSuites([.AES_128_GCM_SHA256]).earlyDataEnabled(true)
            .cipherSuiteGroups([.ats]).version(min: .TLSv13).version(max: .TLSv13)
            .certificateValidator { _, _ in true }
        #expect(element.values.peer.authentication == SecProtocolOptionValues.PeerAuthentication.optional)
        #expect(element.values.ciphers.suites == [.AES_128_GCM_SHA256] && element.values.ciphers.groups == [.ats])
        #expect(element.values.versions.minimum == .TLSv13 && element.values.versions.maximum == .TLSv13)
        #expect(element.values.earlyDataEnabled && element.values.peer.verify != nil)
        let quic = QUIC(alpn: ["h3"]).initialMaxUnidirectionalStreams(3).tls.peerAuthentication(.required)
        #expect(quic.values.initialMaxStreamsUnidirectional == 3)
        #expect(quic.security.peer.authentication == .required)
    }

    @Test("A validator's decision reaches the handshake", arguments: [true, false])
    func validator(answer: Bool) async throws {
        let verify = try #require(TLS().certificateValidator { _, _ in answer }.values.peer.verify)
        let trust = sec_trust_t(SecTrust(.init(certificates: [], policies: [])))
        let received = await withCheckedContinuation { continuation in
            verify.block.value(sec_protocol_metadata_t(), trust) { continuation.resume(returning: $0) }
        }
        #expect(received == answer)
    }

    @Test("Messages over a stream keep the width of their fields, WebSocket its settings")
    func messages() throws {
        let tlv = NWParameters(top: TLV(type: UInt8.self, length: UInt16.self) { TCP() })
        let options = try #require(tlv.defaultProtocolStack.applicationProtocols.first as? TLVOptions)
        #expect(options.header == TLVHeader(typeWidth: 1, lengthWidth: 2))
        let plain = WebSocket { TCP() }
        let webSocket = plain.subprotocols(["chat"]).maximumMessageSize(9).autoReplyPing(true).skipHandshake(true)
        let made = NWParameters(top: webSocket).defaultProtocolStack.applicationProtocols.first
        let values = try #require(made as? NWProtocolWebSocket.Options).values
        #expect(values.subprotocols == ["chat"] && values.maximumMessageSize == 9)
        #expect(values.autoReplyPing && values.skipHandshake)
        let first = NWParameters(top: plain).defaultProtocolStack.applicationProtocols.first
        #expect((first as? NWProtocolWebSocket.Options)?.autoReplyPing == false)
    }

    private struct Stranger: StreamProtocol {
        typealias BelowProtocol = TCP
        typealias Metadata = TCP.Metadata
    }

    @Test("An unknown custom element is not ignored: the stack is refused")
    func strangers() {
        let stacks = [
            NWParameters(top: Stranger()), NWParameters(top: TLV { Stranger() }),
            NWParametersBuilder.parameters {
                TCP()
                Stranger()
            }.parameters,
        ]
        for parameters in stacks {
            #expect(parameters.defaultProtocolStack.applicationProtocols.contains { $0.definition.name == "unknown" })
            parameters.defaultProtocolStack.transportProtocol = NWProtocolTCP.Options()
            #expect(throws: NWError.posix(.ENOTSUP)) { try parameters.makeListenerSettings() }
        }
    }

    @Test("Integers are sent in network byte order")
    func integers() {
        #expect(UInt32(0x0102_0304).networkData == Data([1, 2, 3, 4]))
        #expect(Int16(-2).networkData == Data([0xff, 0xfe]))
        #expect(Int16(networkData: Data([0xff, 0xfe])) == -2)
        #expect(UInt64(networkData: UInt64.max.networkData) == .max)
        #expect(UInt8(networkData: Data([7])) == 7)
        #expect(UInt16(networkData: Data([7])) == nil)
    }

    @Test("Coders encode the formats in their names")
    func coders() throws {
        struct Value: Codable, Equatable { var text: String }
        func roundTrip(_ coder: some NetworkCoder) throws -> Value {
            let data = try coder.makeEncoder().encode(Value(text: "ü"))
            return try coder.makeDecoder().decode(Value.self, from: data)
        }
        #expect(try roundTrip(.json) == Value(text: "ü"))
        #expect(try roundTrip(.propertyList) == Value(text: "ü"))
    }

    @Test("A property list of a peer that is nested too deep is refused before Foundation decodes it")
    func deepPropertyList() throws {
        typealias Element = Coder<[String], [String], NetworkPropertyListCoder>
        let coder = NetworkPropertyListCoder()
        let list = try coder.makeEncoder().encode(["a"])
        #expect(try Element.decode(list, coder) == ["a"])
        let deep = Data("<plist>\(String(repeating: "<array>", count: 200_000))".utf8)
        #expect(throws: DecodingError.self) { try Element.decode(deep, coder) }
    }
}
