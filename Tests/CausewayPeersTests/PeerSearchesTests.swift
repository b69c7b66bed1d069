import CausewayPeerProtocols
import Testing

@testable import CausewayPeers

/// Tests when lost peers are searched for. The tests use a virtual clock.
@Suite("Searches for lost peers")
struct PeerSearchesTests {
    private static func key(_ number: UInt64) -> PeerKey { PeerKey(id: number, high: number, low: 0) }

    @Test("A peer that is lost again extends its search and starts no second timer")
    func again() {
        var searches = PeerSearches()
        let first = searches.begin(Self.key(1), at: .zero)
        let second = searches.begin(Self.key(1), at: .seconds(40))
        #expect(first && !second)
        #expect(searches.due(at: .seconds(60)) == [Self.key(1)])
        #expect(searches.due(at: .seconds(100)) == [])
    }

    @Test("A search that begins while the timer outlasts an ended one starts no second timer")
    func afterEnd() {
        var searches = PeerSearches()
        let first = searches.begin(Self.key(1), at: .zero)
        searches.end(Self.key(1))
        let second = searches.begin(Self.key(2), at: .seconds(1))
        #expect(first && !second)
        #expect(searches.due(at: .seconds(2)) == [Self.key(2)])
    }

    @Test("The first search after the timer has stopped starts it")
    func restart() {
        var searches = PeerSearches()
        let first = searches.begin(Self.key(1), at: .zero)
        searches.end(Self.key(1))
        #expect(searches.due(at: .seconds(2)) == [])
        let second = searches.begin(Self.key(1), at: .seconds(3))
        #expect(first && second)
        #expect(searches.due(at: .seconds(4)) == [Self.key(1)])
    }

    @Test("32 peers are searched for at a time")
    func limit() {
        var searches = PeerSearches()
        for number in 1...40 as ClosedRange<UInt64> { _ = searches.begin(Self.key(number), at: .zero) }
        #expect(Set(searches.due(at: .seconds(2))) == Set((1...32).map(Self.key)))
    }
}
