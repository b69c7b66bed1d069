import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("Streams of a member")
struct PeerStreamTests {
    private final class Streams: Sendable {
        private let all = Mutex<[PeerInputStream]>([])

        var count: Int { all.withLock { $0.count } }
        var first: PeerInputStream? { all.withLock { $0.first } }

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
        // Six of the 256 streams are already closed. Closing them again must not make room for more streams.
        #expect(streams.releaseAll() == 256)
        bob.exchange()
        let third = (0..<300).count { _ in bob.sendStream() }
        #expect(third == 250)
        queue.sync {}
        withExtendedLifetime(group) {}
    }

    @Test("Pieces of a stream that wait for the program are joined, before and after it begins to read")
    func joins() async throws {
        let queue = DispatchQueue(label: "group")
        let streams = Streams()
        let group = PeerGroup(try SimulatedMember.node(), queue: queue) { event in
            if case .stream(_, _, let stream) = event { streams.add(stream) }
        }
        let bob = try SimulatedMember(of: group)
        let channel = try #require(bob.openStream())
        bob.write(0..<50, to: channel)
        queue.sync {}
        var iterator = PeerReader("s", try #require(streams.first)).makeAsyncIterator()
        queue.sync {}
        bob.write(50..<100, to: channel)
        queue.sync {}
        let piece = try await iterator.next()
        #expect(piece == Data([UInt8](0..<100)))
        bob.endStream(channel)
        bob.exchange()
        let end = try await iterator.next()
        #expect(end == nil)
        // The group has released the stream, because it was read to its end.
        bob.exchange()
        let others = (0..<300).count { _ in bob.sendStream() }
        #expect(others == 256)
        withExtendedLifetime((group, iterator)) {}
    }

    @Test("A handler that is set late gets the bytes in one piece, and then the end once")
    func lateHandler() throws {
        let queue = DispatchQueue(label: "group")
        let streams = Streams()
        let group = PeerGroup(try SimulatedMember.node(), queue: queue) { event in
            if case .stream(_, _, let stream) = event { streams.add(stream) }
        }
        let bob = try SimulatedMember(of: group)
        let channel = try #require(bob.openStream())
        bob.write(0..<50, to: channel)
        bob.endStream(channel)
        bob.exchange()
        queue.sync {}
        let events = Mutex<[String]>([])
        streams.first?.start { event in
            let text =
                switch event {
                case .data(let data): "\(data.count) bytes"
                case .ended: "end"
                case .failed(let failure): "\(failure)"
                }
            events.withLock { $0.append(text) }
        }
        queue.sync {}
        #expect(events.withLock { $0 } == ["50 bytes", "end"])
        withExtendedLifetime(group) {}
    }
}
