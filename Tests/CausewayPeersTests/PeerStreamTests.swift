import Dispatch
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("Streams of a member")
struct PeerStreamTests {
    private final class Streams: Sendable {
        private let all = Mutex<[PeerInputStream]>([])

        var count: Int { all.withLock { $0.count } }

        func add(_ stream: PeerInputStream) { all.withLock { $0.append(stream) } }

        func close(_ count: Int) {
            for stream in all.withLock({ Array($0.prefix(count)) }) { stream.close() }
        }

        /// Returns the number of streams that were released.
        func releaseAll() -> Int {
            let old = all.withLock { streams in
                defer { streams = [] }
                return streams
            }
            return old.count
        }
    }

    @Test("A member opens other streams in place of those that the program closes or releases")
    func releases() throws {
        let queue = DispatchQueue(label: "group")
        let streams = Streams()
        let group = PeerGroup(try SimulatedMember.node(), queue: queue) { event in
            if case .stream(_, _, let stream) = event { streams.add(stream) }
        }
        let bob = try SimulatedMember(of: group)
        let first = (0..<300).count { _ in bob.sendStream() }
        bob.exchange()
        queue.sync {}
        #expect(first == 256 && streams.count == 256)
        streams.close(6)
        bob.exchange()
        let second = (0..<300).count { _ in bob.sendStream() }
        #expect(second == 6)
        // Six of them are closed already, and are not closed again.
        #expect(streams.releaseAll() == 256)
        bob.exchange()
        let third = (0..<300).count { _ in bob.sendStream() }
        #expect(third == 250)
        queue.sync {}
        withExtendedLifetime(group) {}
    }
}
