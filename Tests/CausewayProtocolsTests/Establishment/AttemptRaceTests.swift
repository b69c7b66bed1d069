import CausewayProtocols
import Testing

@Suite("Attempt race")
struct AttemptRaceTests {
    typealias Step = AttemptRace.Step

    static func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    @Test("The next address starts after the attempt delay, not before (RFC 8305 §5)")
    func attemptDelay() {
        var race = AttemptRace()
        #expect(race.joined(by: 2, at: .zero) == [.start(0), .wake(at: Self.at(250))])
        #expect(race.advance(to: Self.at(249)) == [.wake(at: Self.at(250))])
        #expect(race.advance(to: Self.at(250)) == [.start(1)])
        #expect(race.advance(to: Self.at(900)) == [])
        #expect(race.startedCount == 2)
    }

    @Test("A failure advances the next start, but not below the minimum spacing (RFC 8305 §5)")
    func failureHurries() {
        var race = AttemptRace()
        _ = race.joined(by: 3, at: .zero)
        #expect(race.failed(0, at: Self.at(3)) == [.wake(at: Self.at(10))])
        #expect(race.advance(to: Self.at(10)) == [.start(1), .wake(at: Self.at(260))])
        #expect(race.failed(1, at: Self.at(100)) == [.start(2)])
    }

    @Test("A failure of an older attempt advances the next start too")
    func olderFailureHurries() {
        var race = AttemptRace()
        _ = race.joined(by: 3, at: .zero)
        _ = race.advance(to: Self.at(250))
        #expect(race.failed(0, at: Self.at(300)) == [.start(2)])
    }

    @Test("The first to connect wins, and the others are abandoned")
    func win() {
        var race = AttemptRace()
        _ = race.joined(by: 3, at: .zero)
        _ = race.advance(to: Self.at(250))
        _ = race.advance(to: Self.at(500))
        #expect(race.connected(1) == [.abandon([0, 2]), .win(1)])
        #expect(
            race.connected(0) == [] && race.failed(2, at: Self.at(600)) == [] && race.advance(to: Self.at(999)) == [])
        #expect(race.joined(by: 1, at: Self.at(999)) == [] && race.skipped(at: Self.at(999)) == [])
    }

    @Test("A single winner abandons no attempt")
    func loneWin() {
        var race = AttemptRace()
        _ = race.joined(by: 1, at: .zero)
        #expect(race.connected(0) == [.win(0)])
    }

    @Test("A race is exhausted only when all attempts have failed and no more addresses will come")
    func exhaustion() {
        var race = AttemptRace()
        _ = race.joined(by: 1, at: .zero)
        #expect(race.failed(0, at: Self.at(20)) == [])
        #expect(race.joined(by: 1, at: Self.at(30)) == [.start(1)])
        #expect(race.closed(at: Self.at(40)) == [])
        #expect(race.failed(1, at: Self.at(50)) == [.exhausted])
        #expect(race.closed(at: Self.at(60)) == [])
    }

    @Test("No candidates")
    func nothingJoins() {
        var race = AttemptRace()
        #expect(race.advance(to: .zero) == [] && race.joined(by: 0, at: .zero) == [])
        #expect(race.closed(at: Self.at(1)) == [.exhausted])
    }

    @Test("Candidates that join during an attempt wait for their turn")
    func lateCandidates() {
        var race = AttemptRace()
        #expect(race.joined(by: 1, at: .zero) == [.start(0)])
        #expect(race.joined(by: 1, at: Self.at(50)) == [.wake(at: Self.at(250))])
        #expect(race.joined(by: 1, at: Self.at(300)) == [.start(1), .wake(at: Self.at(550))])
    }

    @Test("Skipping abandons the current attempts and continues with the next")
    func skipping() {
        var race = AttemptRace()
        _ = race.joined(by: 3, at: .zero)
        _ = race.advance(to: Self.at(250))
        #expect(race.skipped(at: Self.at(300)) == [.abandon([0, 1]), .start(2)])
        // Reports about abandoned attempts change nothing.
        #expect(race.connected(0) == [] && race.failed(1, at: Self.at(301)) == [])
        _ = race.closed(at: Self.at(302))
        #expect(race.skipped(at: Self.at(303)) == [.abandon([2]), .exhausted])
    }

    @Test("The delay is at least the minimum spacing")
    func minimumDelay() {
        var race = AttemptRace(attemptDelay: .zero)
        #expect(race.joined(by: 2, at: .zero) == [.start(0), .wake(at: AttemptRace.minimumSpacing)])
    }
}
