internal import CausewayTypes
internal import DequeModule

/// Decides which address to try next, and when to try it (Happy Eyeballs, RFC 8305 §5).
///
/// New candidates may join during the race. The race owns no sockets and reads no clock. Instead, its owner reports
/// each event with the event's time, and performs the steps that the race returns.
///
/// The race ends once, with a winner or with `exhausted`. It ignores all later events.
package struct AttemptRace: Sendable {
    /// A candidate's number. Candidates are numbered from 0 in the order in which they join.
    package typealias Candidate = Int

    package enum Step: Equatable, Sendable {
        case start(Candidate)
        /// Call ``advance(to:)`` at the given time.
        case wake(at: Duration)
        /// Stop these attempts, because another attempt won or the caller skipped them.
        case abandon([Candidate])
        case win(Candidate)
        /// All attempts failed, and no more addresses will follow.
        case exhausted
    }

    /// The default time between two attempts: 250 ms, as RFC 8305 §8 recommends.
    package static let recommendedDelay: Duration = .milliseconds(250)
    /// The minimum time between the starts of two attempts, even after a failure (RFC 8305 §5).
    package static let minimumSpacing: Duration = .milliseconds(10)

    private let attemptDelay: Duration
    private var waiting: Deque<Candidate> = []
    private var joined = 0
    private var live: [Candidate] = []
    private var mayGrow = true
    private var isOver = false
    private var lastStart: Duration?
    private var isHurried = false
    /// The delay between the start of a candidate and the start of the next one. Only candidates with a known
    /// round-trip time have an entry. After all other candidates, `attemptDelay` applies.
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

    /// Adds candidates, and sets a new order of all candidates that have not started.
    ///
    /// - Parameters:
    ///   - order: All candidates that have not started, including the new candidates.
    ///   - delays: For each of these candidates, the time until the next candidate starts; `nil` for the default.
    package mutating func joined(
        by count: Int, delays: [Duration?], arranged order: [Candidate], at now: Duration
    ) -> [Step] {
        guard !isOver else { return [] }
        joined += count
        waiting = Deque(order)
        for (candidate, delay) in zip(order, delays) { self.delays[candidate] = delay }
        return advance(to: now)
    }

    /// Reports that no more candidates will join the race, so that the race can end when all attempts have failed.
    package mutating func closed(at now: Duration) -> [Step] {
        mayGrow = false
        return advance(to: now)
    }

    /// Starts the connection attempt that is due. Early, late and repeated calls are harmless.
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

    /// Records that an attempt failed. The next attempt can then start early, as soon as ``minimumSpacing`` has passed
    /// since the latest start.
    package mutating func failed(_ candidate: Candidate, at now: Duration) -> [Step] {
        guard !isOver, let index = live.firstIndex(of: candidate) else { return [] }
        live.remove(at: index)
        isHurried = true
        return advance(to: now)
    }

    /// Abandons all running attempts and starts the next candidate's attempt.
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

extension AttemptRace: ReturningMachine {
    package typealias Action = Step

    package var hasEnded: Bool { isOver }
    package var deadline: Duration? { isOver || waiting.isEmpty ? nil : nextStart }
}
