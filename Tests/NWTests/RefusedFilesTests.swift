import CausewayPeers
import Testing

@testable import nw

@Suite("Refused files of peers")
struct RefusedFilesTests {
    @Test("A refused file that arrives all the same is recognized once, and only from its sender")
    func recognized() {
        let (ann, bob) = (
            PeerIdentity(id: 1, fingerprint: [1], name: "Ann"), PeerIdentity(id: 2, fingerprint: [2], name: "Bob")
        )
        var refused = RefusedFiles()
        refused.add("a", of: ann)
        refused.add("a", of: ann)
        refused.add("b", of: ann)
        let results = [("a", bob), ("a", ann), ("a", ann), ("a", ann)].map { refused.remove($0.0, of: $0.1) }
        #expect(results == [false, true, true, false])
        refused.removeAll(of: ann)
        let left = refused.remove("b", of: ann)
        #expect(!left)
    }
}
