import CausewayPeerProtocols
import Testing

@testable import CausewayPeers

@Suite("Attempts to connect with data of a program's own discovery")
struct ExpectedPeersTests {
    private static let session = SessionID(1)

    private func member(_ number: UInt64, high: UInt64 = 0) -> MemberID {
        MemberID(Self.session, PeerKey(id: number, high: high, low: 0))
    }

    @Test("Every attempt can be cancelled by the peer's number until it ends")
    func cancellable() {
        var peers = ExpectedPeers()
        for number in 0..<200 as Range<UInt64> { peers.add(member(number)) }
        for number in 0..<200 as Range<UInt64> {
            let taken = peers.take(number, in: Self.session)
            #expect(taken == member(number))
        }
        let again = peers.take(0, in: Self.session)
        #expect(again == nil)
    }

    @Test("An attempt ends when its peer is connected or failed, and not with another peer of the number")
    func ended() {
        var peers = ExpectedPeers()
        for state in [MemberState.connected, .notConnected(.declined)] {
            peers.add(member(1))
            peers.changed(member(1), .connecting)
            peers.changed(member(1, high: 2), state)
            let taken = peers.take(1, in: Self.session)
            #expect(taken == member(1))
            peers.add(member(1))
            peers.changed(member(1), state)
            let late = peers.take(1, in: Self.session)
            #expect(late == nil)
        }
    }

    @Test("The same number in another group is another attempt")
    func groups() {
        var peers = ExpectedPeers()
        peers.add(member(1))
        let other = peers.take(1, in: SessionID(2))
        #expect(other == nil)
        let taken = peers.take(1, in: Self.session)
        #expect(taken == member(1))
    }
}
