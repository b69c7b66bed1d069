import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Attempt race under any order of events")
struct AttemptRacePropertyTests {
    /// Simulates the network, the resolver and the owner of one race. Checks each step of the race.
    struct Stage {
        enum Fate { case connects(Duration), fails(Duration), silent }
        enum Event { case joins(Int), closes, wakes, skips, connects(Int), fails(Int) }

        var race: AttemptRace
        let delay: Duration
        var random: SplitMix64
        var events: [(time: Duration, event: Event)] = []
        var now: Duration = .zero

        var joined = 0
        var isClosed = false
        var live: Set<Int> = []
        var started = 0
        var lastStart: Duration?
        /// Whether an attempt has failed or was skipped since the latest attempt started.
        var isHurried = false
        var ends: [AttemptRace.Step] = []
        var trace: [String] = []

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            delay = .milliseconds(random.integer(in: 0...400))
            race = AttemptRace(attemptDelay: delay)
            for _ in 0..<random.integer(in: 0...4) {
                schedule(.joins(random.integer(in: 0...3)), after: random.integer(in: 0...600))
            }
            for _ in 0..<random.integer(in: 0...2) { schedule(.skips, after: random.integer(in: 0...1_500)) }
            // Early, late and repeated wake-up calls have no effect.
            for _ in 0..<random.integer(in: 0...5) { schedule(.wakes, after: random.integer(in: 0...2_000)) }
            schedule(.closes, after: random.integer(in: 600...900))
        }

        mutating func schedule(_ event: Event, after milliseconds: Int) {
            events.append((now + .milliseconds(milliseconds), event))
        }

        /// Processes all events in the order of their times. Returns when no event is left.
        mutating func run() {
            while let index = events.indices.min(by: { events[$0].time < events[$1].time }) {
                let (time, event) = events.remove(at: index)
                now = max(now, time)
                let isOver = !ends.isEmpty
                let steps = apply(event)
                if isOver { #expect(steps.isEmpty, "\(event) after the end gave \(steps)") }
                for step in steps { perform(step, of: event) }
            }
        }

        private mutating func apply(_ event: Event) -> [AttemptRace.Step] {
            trace.append("\(now) \(event)")
            switch event {
            case .joins(let count):
                joined += count
                return race.joined(by: count, at: now)
            case .closes:
                isClosed = true
                return race.closed(at: now)
            case .wakes: return race.advance(to: now)
            case .skips:
                isHurried = true
                return race.skipped(at: now)
            case .connects(let candidate): return race.connected(candidate)
            case .fails(let candidate):
                let wasLive = live.remove(candidate) != nil
                if wasLive { isHurried = true }
                return race.failed(candidate, at: now)
            }
        }

        private mutating func perform(_ step: AttemptRace.Step, of event: Event) {
            switch step {
            case .start(let candidate): start(candidate)
            case .wake(let time):
                #expect(time > now)
                events.append((time, .wakes))
            case .abandon(let candidates):
                for candidate in candidates { #expect(live.remove(candidate) != nil, "abandoned \(candidate) twice") }
            case .win(let candidate):
                guard case .connects(candidate) = event else {
                    Issue.record("\(candidate) won by \(event)")
                    break
                }
                #expect(live == [candidate], "the other attempts were not abandoned")
                ends.append(step)
            case .exhausted:
                #expect(live.isEmpty && isClosed && started == joined)
                ends.append(step)
            }
        }

        private mutating func start(_ candidate: Int) {
            #expect(candidate == started && candidate < joined, "started out of order")
            started += 1
            #expect(race.startedCount == started)
            if let lastStart {
                #expect(now - lastStart >= AttemptRace.minimumSpacing, "two starts too close (RFC 8305 §5)")
                if !isHurried, !live.isEmpty { #expect(now - lastStart >= delay) }
            }
            lastStart = now
            isHurried = false
            live.insert(candidate)
            switch random.integer(in: 0...9) {
            case 0, 1: schedule(.connects(candidate), after: random.integer(in: 0...800))
            case 2...6: schedule(.fails(candidate), after: random.integer(in: 0...800))
            case 7:
                // The attempt reports a failure first, and later reports a connection.
                schedule(.fails(candidate), after: 20)
                schedule(.connects(candidate), after: 30)
            default: schedule(.fails(candidate), after: 75_000)
            }
            // In some cases, report a success for an attempt that the race has not started.
            if random.chance(oneIn: 10) { schedule(.connects(candidate + 50), after: 5) }
        }
    }

    @Test("Order, spacing, exactly one end, and always an end", arguments: 0..<10 as Range<UInt64>)
    func rules(_ block: UInt64) {
        for seed in (block * 50)..<(block * 50 + 50) {
            var stage = Stage(seed: seed)
            stage.run()
            #expect(stage.ends.count == 1, "seed \(seed): \(stage.trace)")
        }
    }
}
