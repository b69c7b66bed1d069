import Testing

@testable import CausewayPeers

@Suite("Tasks that wait for what becomes of a peer")
struct OutcomesTests {
    private let peer = PeerIdentity(id: 1, fingerprint: [UInt8](repeating: 1, count: 16), name: "Ann")

    @Test("A loss answers the questions of its time, and not one that a continued task asks next")
    func questionsAfterLoss() async throws {
        for _ in 0..<200 {
            let outcomes = Outcomes()
            let (asked, signal) = AsyncStream<Void>.makeStream()
            let task = Task { [peer] in
                await #expect(throws: PeerFailure(.unverified)) {
                    try await outcomes.wait(.membership(peer)) { signal.yield() }
                }
                return try await outcomes.wait(.pairing(peer)) { signal.yield() }
            }
            var steps = asked.makeAsyncIterator()
            await steps.next()
            outcomes.lost(peer, PeerFailure(.unverified), wasMember: false)
            await steps.next()
            #expect(outcomes.answer(.pairing(peer), .success(nil)))
            #expect(try await task.value == nil)
        }
    }

    @Test("The loss of a member leaves its pairing to be answered")
    func memberWithPairing() async throws {
        let outcomes = Outcomes()
        let (asked, signal) = AsyncStream<Void>.makeStream()
        let task = Task { [peer] in try await outcomes.wait(.pairing(peer)) { signal.yield() } }
        var steps = asked.makeAsyncIterator()
        await steps.next()
        outcomes.lost(peer, PeerFailure(.left), wasMember: true)
        #expect(outcomes.answer(.pairing(peer), .success(nil)))
        #expect(try await task.value == nil)
    }
}
