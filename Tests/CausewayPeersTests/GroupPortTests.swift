import CausewayPeerProtocols
import Dispatch
import Testing

@testable import CausewayPeers

@Suite("Attempts to connect with data of a program's own discovery")
struct GroupPortTests {
    private let port = GroupPort(PeerGroup.Settings(), DispatchQueue(label: "port")) { _ in }

    private func member(_ number: UInt64, high: UInt64 = 0) -> MemberID {
        MemberID(SessionID(1), PeerKey(id: number, high: high, low: 0))
    }

    @Test("Every attempt can be cancelled by the peer's number until it ends")
    func cancellable() {
        for number in 0..<200 as Range<UInt64> { port.expect(member(number)) }
        #expect((0..<200 as Range<UInt64>).allSatisfy { port.expected($0) == member($0) })
        #expect(port.expected(0) == nil)
    }

    @Test("An attempt ends when its peer is connected or failed, and not with another peer of the number")
    func ended() {
        let peer = PeerIdentity(id: 1, fingerprint: [], name: "")
        for state in [MemberState.connected, .notConnected(.declined)] {
            port.expect(member(1))
            port.changed(peer, member(1), .connecting)
            port.changed(peer, member(1, high: 2), state)
            #expect(port.expected(1) == member(1))
            port.expect(member(1))
            port.changed(peer, member(1), state)
            #expect(port.expected(1) == nil)
        }
    }
}
