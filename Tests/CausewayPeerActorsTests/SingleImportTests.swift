import CausewayPeerActors
import Testing

@Suite("A program with CausewayPeerActors alone")
struct SingleImportTests {
    @Test("It names sessions and identities")
    func names() async throws {
        let pair = try await Pair()
        let identity: PeerIdentity = pair.bob.me
        #expect(pair.counter.id.peer == identity)
        let start: (PeerSession) -> PeerActorSystem = { PeerActorSystem($0) }
        _ = start
        pair.stop()
    }
}
