import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayBonjourProtocols

@Suite("Sleep proxy conversation")
struct SleepProxyConversationTests {
    private let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0100)), port: 5_000)

    /// Returns a conversation with two messages.
    private func begun() -> SleepProxyConversation {
        let owner = DNSOwner(sequence: 3, primary: LinkAddress(bits: 0x0200_0000_0001))
        return SleepProxyConversation(
            SleepProxyClient.Registration([], of: owner), with: peer, [7: [1], 3: [2]], at: .zero)
    }

    private func reply(_ id: UInt16, code: DNSResponseCode = .noError, lease: UInt32? = nil) -> [UInt8] {
        var message = DNSMessage()
        (message.id, message.flags, message.operation, message.responseCode) = (id, [.isResponse], 5, code)
        if let lease {
            message.extensions = DNSExtensions(payloadByteCount: 1_440)
            message.extensions?.options = [DNSLease.option(seconds: lease)]
        }
        return message.encoded()
    }

    @Test("The messages are sent in the order of their IDs, at most three times")
    func retries() {
        var conversation = begun()
        #expect(conversation.transmissions == [.send([2], to: peer), .send([1], to: peer)])
        #expect(conversation.due == .milliseconds(100))
        let retries = (1...3).map { conversation.retry(at: .milliseconds(100 * $0)) }
        #expect(retries == [true, true, false])
        #expect(conversation.due == .milliseconds(300))
    }

    @Test("The shortest lease counts, when all messages are confirmed")
    func confirms() {
        var conversation = begun()
        let first = conversation.received(reply(7, lease: 900).span, from: peer)
        let repeated = conversation.received(reply(7, lease: 1).span, from: peer)
        #expect(first == .pending && repeated == .pending)
        #expect(conversation.transmissions == [.send([2], to: peer)])
        let last = conversation.received(reply(3).span, from: peer)
        #expect(last == .registered(leaseSeconds: 900))
    }

    @Test("An error reply ends the conversation, but only from the proxy itself")
    func refuses() {
        var conversation = begun()
        let refusal = reply(3, code: .refused)
        let stranger = MulticastPeer(peer.address, port: 5_001)
        let ignored = conversation.received(refusal.span, from: stranger)
        let refused = conversation.received(refusal.span, from: peer)
        #expect(ignored == .pending && refused == .refused)
    }
}
