import Synchronization
import Testing

@testable import CausewayPeers

@Suite("The events of a session that were not taken yet")
struct EventBufferTests {
    private let peer = PeerIdentity(id: 1, fingerprint: [UInt8](repeating: 1, count: 16), name: "Ann")

    private func isJoined(_ buffer: EventBuffer) async throws -> Bool {
        if case .joined? = try await buffer.next() { true } else { false }
    }

    @Test("Events are taken in order, and a receipt is released with its event")
    func order() async throws {
        let buffer = EventBuffer()
        let released = Mutex(0)
        for _ in 0..<200 { buffer.add(.joined(peer), PeerReceipt { released.withLock { $0 += 1 } }) }
        buffer.add(.suspended(peer))
        #expect(released.withLock { $0 } == 0)
        for number in 0..<200 {
            try #require(await isJoined(buffer), "\(number)")
        }
        let last = try await buffer.next()
        if case .suspended? = last {} else { Issue.record("\(String(describing: last))") }
        #expect(released.withLock { $0 } == 200)
    }

    @Test("News of discovery is bounded, and other events stay")
    func bound() async throws {
        let buffer = EventBuffer()
        buffer.add(.joined(peer))
        for _ in 0..<10_000 { buffer.add(.lost(peer)) }
        buffer.finish(.success(()))
        var counts = (joined: 0, lost: 0)
        while let event = try await buffer.next() {
            if case .joined = event { counts.joined += 1 } else { counts.lost += 1 }
        }
        #expect(counts.joined == 1 && counts.lost < 2_100 && counts.lost > 2_000)
    }

    @Test("The end comes after the events, and an error is thrown")
    func end() async throws {
        let buffer = EventBuffer()
        buffer.add(.joined(peer))
        buffer.finish(.failure(PeerFailure(.network)))
        buffer.add(.lost(peer))
        #expect(try await isJoined(buffer))
        await #expect(throws: PeerFailure(.network)) { try await buffer.next() }
    }

    @Test("A cancelled wait ends without an event, and a later one gets it")
    func cancelled() async throws {
        let buffer = EventBuffer()
        let waiting = Task { try await buffer.next() }
        waiting.cancel()
        if let event = try await waiting.value { Issue.record("\(event)") }
        buffer.add(.joined(peer))
        #expect(try await isJoined(buffer))
    }
}
