import Testing

@testable import CausewayPeerProtocols

@Suite("Queued messages")
struct MessageOutboxTests {
    /// Removes and returns all queued message fragments.
    private static func drain(_ outbox: inout MessageOutbox) -> [[UInt8]] {
        var fragments: [[UInt8]] = []
        while let fragment = outbox.next() { fragments.append(fragment.bytes) }
        return fragments
    }

    @Test("A message takes the place of the queued one with its key, and of no other")
    func replaced() {
        var outbox = MessageOutbox()
        outbox.append([1, 1], key: "a")
        outbox.append([2])
        outbox.append([3], key: "b")
        outbox.append([4, 4, 4], key: "a")
        #expect(outbox.byteCount == 5)
        #expect(outbox.replacedCount("a") == 3 && outbox.replacedCount("b") == 1 && outbox.replacedCount(nil) == 0)
        let fragments = Self.drain(&outbox)
        #expect(fragments == [[4, 4, 4], [2], [3]])
        #expect(outbox.isEmpty && outbox.byteCount == 0)
        // The queue forgets a message's key after it has sent the message. So the key can be used again.
        outbox.append([5], key: "a")
        outbox.append([6], key: "a")
        let later = Self.drain(&outbox)
        #expect(later == [[6]])
    }

    @Test("A message that has begun to be sent is not replaced, and can be dropped")
    func begun() throws {
        var outbox = MessageOutbox()
        let long = [UInt8](repeating: 1, count: PeerLimits.framePayload + 1)
        outbox.append(long, key: "a")
        let first = outbox.next()
        #expect(try #require(first).isLast == false)
        outbox.append([2], key: "a")
        outbox.append([3], key: "a")
        #expect(outbox.byteCount == 2)
        outbox.dropPartial()
        #expect(outbox.byteCount == 1)
        let rest = Self.drain(&outbox)
        #expect(rest == [[3]])
    }

    @Test("A full queue takes a value that replaces one of its size")
    func full() {
        var traffic = MemberTraffic(member: MemberID(SessionID(1), PeerKey(id: 2, high: 2, low: 0)), isOdd: true)
        let sends: [([UInt8], String?)] = [
            ([1, 1], "a"), ([2, 2], nil), ([3], nil), ([4, 4], "a"), ([5, 5, 5], "a"),
        ]
        let limit = 4 + 2 * PeerLimits.messageOverhead
        let results = sends.map { bytes, key in traffic.send(bytes, reliably: true, key: key, limit: limit) }
        #expect(results == [.queued, .queued, .full, .queued, .full])
    }

    @Test("Empty messages fill a queue too", arguments: [true, false])
    func empty(reliably: Bool) {
        var traffic = MemberTraffic(member: MemberID(SessionID(1), PeerKey(id: 2, high: 2, low: 0)), isOdd: true)
        let count = PeerLimits.unreliableMessage / PeerLimits.messageOverhead + 1
        let results = (0...count).map { _ in
            traffic.send([], reliably: reliably, limit: PeerLimits.unreliableMessage)
        }
        #expect(results.prefix(count).allSatisfy { $0 == .queued })
        #expect(results.last == (reliably ? .full : .dropped))
    }
}
