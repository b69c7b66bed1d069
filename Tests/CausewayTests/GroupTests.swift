import Foundation
import Testing

@testable import Causeway

@Suite("Groups, QUIC values and Ethernet addresses")
struct GroupTests {
    @Test("Groups are numeric multicast addresses with one port")
    func multicast() throws {
        let group = try NWMulticastGroup(
            for: [.hostPort(host: "224.0.0.251", port: 5353), .hostPort(host: "ff02::fb", port: 5353)],
            from: .hostPort(host: "192.0.2.1", port: 0), disableUnicast: true)
        #expect(group.members.count == 2)
        #expect(group.isUnicastDisabled)
        #expect(group.sourceFilter == .hostPort(host: "192.0.2.1", port: 0))
        #expect(try !NWMulticastGroup(for: [.hostPort(host: "239.1.2.3", port: 1)]).isUnicastDisabled)
    }

    static let mistakes: [([NWEndpoint], NWEndpoint?)] = [
        ([], nil), ([.hostPort(host: "192.0.2.1", port: 5353)], nil), ([.hostPort(host: "224.0.0.251", port: 0)], nil),
        ([.hostPort(host: "mdns.example", port: 5353)], nil), ([.unix(path: "/tmp/group")], nil),
        ([.hostPort(host: "224.0.0.251", port: 1), .hostPort(host: "ff02::fb", port: 2)], nil),
        ([.hostPort(host: "224.0.0.251", port: 1), .hostPort(host: "192.0.2.1", port: 1)], nil),
        ([.hostPort(host: "224.0.0.251", port: 1)], .hostPort(host: "224.0.0.1", port: 0)),
        ([.hostPort(host: "224.0.0.251", port: 1)], .hostPort(host: "name.example", port: 0)),
    ]

    @Test("Other endpoints are refused", arguments: mistakes)
    func refusal(members: [NWEndpoint], source: NWEndpoint?) {
        #expect(throws: NWError.posix(.EINVAL)) { try NWMulticastGroup(for: members, from: source) }
    }

    @Test("A message made of a context object has the context's values")
    func message() {
        let context = NWConnection.ContentContext(
            identifier: "reply", expiration: 9, priority: 0.75, isFinal: true, metadata: [NWProtocolUDP.Metadata()])
        let message = NWConnectionGroup.Message(nw: nw_content_context_t(context: context))
        #expect(message.identifier == "reply" && message.expirationMilliseconds == 9 && message.isFinal)
        #expect(message.relativePriority == 0.75)
        #expect(message.metadata(definition: NWProtocolUDP.definition) != nil)
        #expect(message.remoteEndpoint == nil && message.extractConnection() == nil)
        message.reply(content: nil)
    }

    @Test("QUIC options keep their values, and a copy is independent")
    func quicOptions() throws {
        let options = NWProtocolQUIC.Options(alpn: ["h3"])
        #expect(options.values == NWProtocolQUIC.Options.Values(alpn: ["h3"]))
        options.direction = .unidirectional
        options.idleTimeout = 30_000
        options.maxUDPPayloadSize = 1_350
        options.initialMaxData = 1
        options.initialMaxStreamDataBidirectionalRemote = 2
        options.initialMaxStreamDataBidirectionalLocal = 3
        options.initialMaxStreamDataUnidirectional = 4
        options.initialMaxStreamsBidirectional = 5
        options.initialMaxStreamsUnidirectional = 6
        options.maxDatagramFrameSize = 7
        sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, "example.org")
        let copy = try #require(options.copyOptions() as? NWProtocolQUIC.Options)
        #expect(copy.values == options.values)
        #expect(copy.securityProtocolOptions.values.serverName == "example.org")
        options.alpn = []
        #expect(copy.alpn == ["h3"])
        #expect(copy.initialMaxData == 1 && copy.initialMaxStreamsUnidirectional == 6 && copy.maxDatagramFrameSize == 7)
    }

    @Test("QUIC metadata and errors hold their values")
    func quicMetadata() {
        let metadata = NWProtocolQUIC.Metadata(values: .init(), securityProtocolMetadata: sec_protocol_metadata_t())
        #expect(metadata.negotiatedALPN == nil && metadata.usableDatagramFrameSize == 0)
        metadata.applicationError = 7
        metadata.streamApplicationErrorCode = 8
        metadata.localMaxStreamsBidirectional = 9
        metadata.localMaxStreamsUnidirectional = 10
        metadata.keepAlive = .seconds(20)
        #expect(metadata.applicationError.code == 7 && metadata.applicationError.reason == nil)
        #expect(metadata.values.streamApplicationErrorCode == 8 && metadata.values.localMaxStreamsBidirectional == 9)
        guard case .seconds(20) = metadata.keepAlive else { return #expect(Bool(false), "\(metadata.keepAlive)") }
        metadata.update { $0.streamIdentifier = 4 }
        #expect(metadata.streamIdentifier == 4)
    }

    static let addresses: [(String, [UInt8]?)] = [
        ("02:00:5e:10:00:ff", [2, 0, 0x5e, 0x10, 0, 0xff]), ("2:0:5E:10:0:FF", [2, 0, 0x5e, 0x10, 0, 0xff]),
        ("", nil), ("02:00:5e:10:00", nil), ("02:00:5e:10:00:ff:01", nil), ("02:00:5e:10:00:", nil),
        ("02:00:5e:10:00:100", nil), ("02:00:5e:10:00:+f", nil), ("02-00-5e-10-00-ff", nil), ("02:00:5e:10:00:g0", nil),
    ]

    @Test("Ethernet addresses are six bytes", arguments: addresses)
    func ethernetAddresses(text: String, bytes: [UInt8]?) {
        let address = NWEthernetChannel.EthernetAddress(text)
        #expect(address?.rawValue == bytes.map { Data($0) })
        guard let bytes else { return }
        #expect(NWEthernetChannel.EthernetAddress(Data(bytes)) == address)
        #expect(address?.debugDescription == "02:00:5e:10:00:ff")
        #expect(NWEthernetChannel.EthernetAddress(Data(bytes + [1])) == nil)
    }
}
