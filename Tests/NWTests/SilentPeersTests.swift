import Testing

@testable import nw

@Suite("Silent peers of a server")
struct SilentPeersTests {
    private final class Peer {}

    @Test("A peer is removed when it was silent for all checks since its latest datagram")
    func silence() {
        var peers = SilentPeers<Peer>(limit: 2)
        let (talker, listener) = (Peer(), Peer())
        let mark = peers.add(talker)
        _ = peers.add(listener)
        var removed: [[Peer]] = []
        for number in 0..<6 {
            if number < 3 { mark.set() }
            removed.append(peers.check())
        }
        // A new peer counts as heard at the first check.
        #expect(removed.map(\.count) == [0, 0, 1, 0, 1, 0])
        #expect(removed[2].first === listener && removed[4].first === talker)
        #expect(peers.count == 0)
    }

    @Test("A peer that has ended is not returned")
    func ended() {
        var peers = SilentPeers<Peer>(limit: 1)
        let peer = Peer()
        _ = peers.add(peer)
        peers.remove(peer)
        let removed = (0..<3).flatMap { _ in peers.check() }
        #expect(removed.isEmpty && peers.count == 0)
    }
}
