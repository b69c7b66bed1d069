import CausewayPeerProtocols
import Testing

@testable import CausewayPeers

@Suite("Sends of which only the newest matters")
struct LatestSendsTests {
    private static let bob = MemberID(SessionID(1), PeerKey(id: 1, high: 0, low: 0))
    private static let eve = MemberID(SessionID(1), PeerKey(id: 2, high: 0, low: 0))

    @Test("A newer send for the same key and member replaces an older one")
    func replaces() {
        var sends = LatestSends()
        let first = sends.begin("x", to: Self.bob)
        #expect(sends.isNewest(first))
        let second = sends.begin("x", to: Self.bob)
        #expect(!sends.isNewest(first))
        #expect(sends.isNewest(second))
        #expect(second.key == "x")
    }

    @Test("Sends for other keys and other members do not matter")
    func others() {
        var sends = LatestSends()
        let first = sends.begin("x", to: Self.bob)
        let key = sends.begin("y", to: Self.bob)
        let member = sends.begin("x", to: Self.eve)
        #expect(sends.isNewest(first))
        #expect(sends.isNewest(key))
        #expect(sends.isNewest(member))
    }

    @Test("If a newer send is cancelled, the older one is the newest again")
    func cancelled() {
        var sends = LatestSends()
        let first = sends.begin("x", to: Self.bob)
        let second = sends.begin("x", to: Self.bob)
        sends.end(second)
        #expect(sends.isNewest(first))
        sends.end(first)
        #expect(!sends.isNewest(first))
    }

    @Test("After a newer send was queued, an older one that still waits is not sent")
    func queued() {
        var sends = LatestSends()
        let first = sends.begin("x", to: Self.bob)
        let second = sends.begin("x", to: Self.bob)
        sends.queued(second)
        sends.end(second)
        #expect(!sends.isNewest(first))
        sends.end(first)
        let third = sends.begin("x", to: Self.bob)
        #expect(sends.isNewest(third))
    }
}
