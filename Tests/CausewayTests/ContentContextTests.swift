import CausewayRuntime
import Testing

@testable import Causeway

@Suite("Content contexts")
struct ContentContextTests {
    typealias Context = NWConnection.ContentContext

    @Test("A context has Apple's defaults")
    func defaults() {
        let context = Context(identifier: "mine")
        #expect(context.identifier == "mine")
        #expect(context.expirationMilliseconds == 0)
        #expect(context.relativePriority == 0.5)
        #expect(!context.isFinal)
        #expect(context.antecedent == nil)
        #expect(context.protocolMetadata.isEmpty)
        #expect(Context(identifier: "nil", metadata: nil).protocolMetadata.isEmpty)
    }

    @Test("Only the final contexts close the sending direction")
    func sharedContexts() {
        #expect(!Context.defaultMessage.isFinal)
        #expect(Context.finalMessage.isFinal)
        #expect(Context.defaultStream.isFinal)
        #expect(Context.defaultMessage === Context.defaultMessage)
        #expect(!Context.inboundStream.isFinal)
        #expect(Context.inboundStreamEnd.isFinal)
        #expect(Context.inboundStream.protocolMetadata.isEmpty)
    }

    @Test("A context keeps its values")
    func values() {
        let first = Context(identifier: "first")
        let context = Context(
            identifier: "second", expiration: 100, priority: 0.9, isFinal: true, antecedent: first,
            metadata: [NWProtocolUDP.Metadata()])
        #expect(context.expirationMilliseconds == 100)
        #expect(context.relativePriority == 0.9)
        #expect(context.isFinal)
        #expect(context.antecedent === first)
        #expect(context.protocolMetadata(definition: NWProtocolUDP.definition) is NWProtocolUDP.Metadata)
        #expect(context.protocolMetadata(definition: NWProtocolIP.definition) == nil)
    }

    @Test("Of several metadata for one protocol the last counts")
    func lastMetadataWins() {
        let early = NWProtocolIP.Metadata()
        let udp = NWProtocolUDP.Metadata()
        let late = NWProtocolIP.Metadata()
        let context = Context(identifier: "mine", metadata: [early, udp, late])
        #expect(context.protocolMetadata.count == 2)
        #expect(context.protocolMetadata(definition: NWProtocolIP.definition) === late)
        #expect(context.protocolMetadata(definition: NWProtocolUDP.definition) === udp)
    }

    @Test(
        "The rank is a number from 0 to 1",
        arguments: [(0.5, 0.5), (-3, 0), (7, 1), (.infinity, 1), (-.infinity, 0), (.nan, 0.5)] as [(Double, Double)])
    func priority(given: Double, rank: Double) {
        #expect(Context(identifier: "mine", priority: given).priority == rank)
    }

    @Test("A received datagram has its header fields")
    func datagramMetadata() throws {
        let context = Context.inboundDatagram(DatagramHeader(trafficClass: 46 << 2 | 0b11, receiveTime: 12))
        #expect(!context.isFinal)
        #expect(context.protocolMetadata.count == 2)
        let ip = try #require(
            context.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata)
        #expect(ip.ecn == .ce)
        #expect(ip.serviceClass == .interactiveVoice)
        #expect(ip.receiveTime == 12)
        #expect(context.protocolMetadata(definition: NWProtocolUDP.definition) is NWProtocolUDP.Metadata)
        #expect(context.protocolMetadata(definition: NWProtocolTCP.definition) == nil)
    }

    @Test("Datagrams without options share a context, and changing its metadata does not affect other programs")
    func plainDatagrams() throws {
        let first = Context.inboundDatagram()
        #expect(first === Context.inboundDatagram())
        #expect(first !== Context.inboundDatagram(DatagramHeader(trafficClass: 1)))
        let ip = try #require(first.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata)
        ip.ecn = .ce
        let again = Context.inboundDatagram().protocolMetadata(definition: NWProtocolIP.definition)
        #expect((again as? NWProtocolIP.Metadata)?.ecn == .nonECT)
    }

    @Test("Only the completion `idempotent` permits early content")
    func completion() {
        func permitsEarlyContent(_ completion: NWConnection.SendCompletion) -> Bool {
            if case .idempotent = completion.waiter { true } else { false }
        }
        #expect(!permitsEarlyContent(.contentProcessed { _ in }))
        #expect(permitsEarlyContent(.idempotent))
    }

    @Test("A group message to send has no sender, and each default message is a new one")
    func groupMessage() {
        typealias Message = NWConnectionGroup.Message
        #expect(Message.default.ticket == nil && Message(identifier: "own").ticket != nil)
        #expect(Message.default.remoteEndpoint == nil)
        #expect(Message.default.localEndpoint == nil)
        #expect(Message.default.path == nil)
    }
}
