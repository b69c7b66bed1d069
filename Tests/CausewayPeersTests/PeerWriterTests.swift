import Foundation
import Testing

@testable import CausewayPeers

@Suite("Writing to the stream of a member")
struct PeerWriterTests {
    @Test("A write to a finished stream throws, also one that waits for space")
    func finished() async throws {
        let group = PeerGroup(try SimulatedMember.node()) { _ in }
        let bob = try SimulatedMember(of: group)
        let stream = try group.openStream("a", to: bob.identity)
        let writer = PeerWriter("a", stream)
        let waiting = Task { try await writer.write(Data(count: 300 << 10)) }
        while stream.space > 0 { await Task.yield() }
        writer.finish()
        await #expect(throws: PeerFailure(.invalid)) { try await waiting.value }
        await #expect(throws: PeerFailure(.invalid)) { try await writer.write(Data([1])) }
        withExtendedLifetime((group, bob)) {}
    }
}
