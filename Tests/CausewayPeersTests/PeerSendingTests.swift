import Testing

@testable import CausewayPeers

@Suite("Sending to a member")
struct PeerSendingTests {
    @Test("A datagram over 64 KiB is sent as a reliable message")
    func largeDatagram() {
        #expect(PeerSession.Delivery.datagram.isDatagram(of: 65_536))
        #expect(!PeerSession.Delivery.datagram.isDatagram(of: 65_537))
        #expect(!PeerSession.Delivery.reliable.isDatagram(of: 1))
    }
}
