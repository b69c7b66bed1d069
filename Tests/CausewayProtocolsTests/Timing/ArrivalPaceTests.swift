import CausewayProtocols
import Testing

@Suite("Arrival pace")
struct ArrivalPaceTests {
    /// Returns an arrival pace after a number of reads. Each read takes `count` datagrams, and the time between two
    /// reads is `gap`.
    static func pace(afterReads reads: Int, of count: Int, every gap: Duration) -> (ArrivalPace, Duration) {
        var pace = ArrivalPace()
        var now = Duration.seconds(1)
        for _ in 0..<reads {
            now += gap
            guard case .read = pace.arrived(at: now) else { break }
            #expect(pace.wasRead(count, at: now) == .listen)
        }
        return (pace, now + gap)
    }

    @Test("Arrivals that are far apart are read at once", arguments: [1, 5, 20, 200])
    func sparse(count: Int) {
        let (paced, now) = Self.pace(afterReads: 1_000, of: count, every: .milliseconds(1))
        var pace = paced
        #expect(pace.arrived(at: now) == .read)
    }

    @Test("Large trains are read at once, at any distance")
    func trains() {
        let (paced, now) = Self.pace(afterReads: 1_000, of: 64, every: .microseconds(60))
        var pace = paced
        #expect(pace.arrived(at: now) == .read)
    }

    @Test("Single datagrams in quick succession are collected")
    func single() {
        let (paced, now) = Self.pace(afterReads: 100, of: 1, every: .microseconds(10))
        var pace = paced
        guard case .wait(let pause) = pace.arrived(at: now) else {
            Issue.record("read at once")
            return
        }
        #expect(pause >= .microseconds(100) && pause <= .microseconds(500))
    }

    @Test("Pauses that collect several datagrams continue, and grow up to a limit while they collect too few")
    func stream() {
        var (pace, now) = Self.pace(afterReads: 100, of: 1, every: .microseconds(10))
        guard case .wait(var pause) = pace.arrived(at: now) else {
            Issue.record("read at once")
            return
        }
        for _ in 0..<10 {
            now += pause
            guard case .wait(let next) = pace.wasRead(100, at: now) else {
                Issue.record("read at once although many arrived")
                return
            }
            #expect(next >= pause && next <= .microseconds(500))
            pause = next
        }
        #expect(pause == .microseconds(500))
    }

    @Test("Pauses that collect nothing are abandoned")
    func useless() {
        var (pace, now) = Self.pace(afterReads: 100, of: 1, every: .microseconds(10))
        var pauses = 0
        for _ in 0..<8 {
            guard case .wait(let pause) = pace.arrived(at: now) else { continue }
            pauses += 1
            #expect(pace.wasRead(1, at: now + pause) == .listen)
            now += .milliseconds(5)
        }
        #expect(pauses == 1)
    }

    @Test("A program that sends does not wait for its answer")
    func sending() {
        let (paced, now) = Self.pace(afterReads: 100, of: 1, every: .microseconds(10))
        var pace = paced
        pace.sent()
        #expect(pace.arrived(at: now) == .read)
    }

    @Test("Sending ends a pause")
    func sendingDuringPause() {
        let (paced, now) = Self.pace(afterReads: 100, of: 1, every: .microseconds(10))
        var pace = paced
        guard case .wait(let pause) = pace.arrived(at: now) else {
            Issue.record("read at once")
            return
        }
        pace.sent()
        #expect(pace.wasRead(500, at: now + pause) == .listen)
    }
}
