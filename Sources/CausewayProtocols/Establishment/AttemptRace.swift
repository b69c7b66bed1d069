internal import DequeModule

/// Decides which address to try next, and when (Happy Eyeballs, RFC 8305 §5).
///
/// Candidates may join while the race runs. The race owns no sockets and reads no clock: its owner reports what happened
/// and when, and performs the returned steps. It ends once, with a winner or with exhaustion, and is inert afterwards.
package struct AttemptRace: Sendable {
    /// Numbers candidates from 0 in the order in which they joined.
    package typealias Candidate = Int

    package enum Step: Equatable, Sendable {
        case start(Candidate)
        /// Call ``advance(to:)`` at this time.
        case wake(at: Duration)
        /// Stop these attempts: another one won, or the owner skipped them.
        case abandon([Candidate])
        case win(Candidate)
        /// Every candidate failed and no more will come.
        case exhausted
    }

    /// RFC 8305 §8 recommends 250 ms.
    package static let recommendedDelay: Duration = .milliseconds(250)
    /// No two attempts start closer than this, even after a failure (RFC 8305 §5).
    package static let minimumSpacing: Duration = .milliseconds(10)

    private let attemptDelay: Duration
    private var waiting: Deque<Candidate> = []
    private var joined = 0
    private var live: [Candidate] = []
    private var mayGrow = true
    private var isOver = false
    private var lastStart: Duration?
    private var isHurried = false
    /// Where it is known how long an answer takes; for others it is the usual delay.
    private var delays: [Candidate: Duration] = [:]
    private var lastDelay: Duration?

    package init(attemptDelay: Duration = recommendedDelay) {
        self.attemptDelay = max(attemptDelay, Self.minimumSpacing)
    }

    package var startedCount: Int { joined - waiting.count }

    package mutating func joined(by count: Int, at now: Duration) -> [Step] {
        guard !isOver else { return [] }
        waiting.append(contentsOf: joined..<(joined + count))
        joined += count
        return advance(to: now)
    }

    /// Candidates join, and what has not started is put in another order.
    ///
    /// - Parameters:
    ///   - order: Everything that has not started, the new ones included.
    ///   - delays: For each of these, how long it is given before the next one starts; `nil` for the usual time.
    package mutating func joined(
        by count: Int, delays: [Duration?], arranged order: [Candidate], at now: Duration
    ) -> [Step] {
        guard !isOver else { return [] }
        joined += count
        waiting = Deque(order)
        for (candidate, delay) in zip(order, delays) { self.delays[candidate] = delay }
        return advance(to: now)
    }

    /// No candidate will join any more.
    package mutating func closed(at now: Duration) -> [Step] {
        mayGrow = false
        return advance(to: now)
    }

    /// Starts what is due. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) -> [Step] {
        guard !isOver else { return [] }
        guard let next = waiting.first else { return endIfExhausted() }
        if let due = nextStart, due > now { return [.wake(at: due)] }
        waiting.removeFirst()
        live.append(next)
        lastStart = now
        lastDelay = delays[next]
        isHurried = false
        guard !waiting.isEmpty, let due = nextStart else { return [.start(next)] }
        return [.start(next), .wake(at: due)]
    }

    package mutating func connected(_ candidate: Candidate) -> [Step] {
        guard !isOver, live.contains(candidate) else { return [] }
        isOver = true
        let losers = live.filter { $0 != candidate }
        return losers.isEmpty ? [.win(candidate)] : [.abandon(losers), .win(candidate)]
    }

    /// A failure lets the next attempt start at once, save for ``leastSpacing``.
    package mutating func failed(_ candidate: Candidate, at now: Duration) -> [Step] {
        guard !isOver, let index = live.firstIndex(of: candidate) else { return [] }
        live.remove(at: index)
        isHurried = true
        return advance(to: now)
    }

    /// Gives up every attempt under way and goes on with the next candidate.
    package mutating func skipped(at now: Duration) -> [Step] {
        guard !isOver else { return [] }
        let given = live
        live = []
        isHurried = true
        let steps = advance(to: now)
        return given.isEmpty ? steps : [.abandon(given)] + steps
    }

    private var nextStart: Duration? {
        lastStart.map { $0 + (isHurried || live.isEmpty ? Self.minimumSpacing : lastDelay ?? attemptDelay) }
    }

    private mutating func endIfExhausted() -> [Step] {
        guard live.isEmpty, !mayGrow else { return [] }
        isOver = true
        return [.exhausted]
    }
}
