internal import CausewayTypes
internal import CausewayWire

/// Tries a name's addresses while the resolver delivers them (RFC 8305 §3 to §5).
///
/// Answers may come at any time and in any order. If IPv4 addresses come first, the race waits a short time for IPv6
/// addresses. It sorts the known addresses, alternates between the families, and starts one attempt after the other.
/// The race owns no sockets and reads no clock.
package struct AddressRace: Sendable {
    package typealias Candidate = AttemptRace.Candidate
    package typealias Step = AttemptRace.Step
    package typealias Family = NameLookup.Family

    /// Results of earlier connections to an address.
    package struct History: Equatable, Sendable {
        /// Whether the latest connection to this host used the address.
        package var hasWorked = false
        /// Whether a recent connection attempt to the address has failed.
        package var hasFailed = false
        package var roundTrip: Duration?

        package init() {}
    }

    /// How long attempts to IPv4 addresses wait for the IPv6 addresses (Resolution Delay, RFC 8305 §3).
    package static let resolutionDelay: Duration = .milliseconds(50)
    /// The maximum time between two attempts (RFC 8305 §8).
    package static let longestDelay: Duration = .seconds(2)

    private var race: AttemptRace
    private var destinations: [Destination] = []
    private var histories: [History] = []
    /// The candidates that are not in the race yet.
    private var held: [Candidate] = []
    private var unsettled: Set<Family>
    private var holdEnds: Duration?
    private var hasBegun = false
    private var lastFamily: InternetAddress.Family?
    /// Candidates whose attempts have not started, in order.
    private var order: [Candidate] = []

    /// - Parameter families: The address families for which addresses can still arrive.
    package init(awaiting families: Set<Family>, attemptDelay: Duration = AttemptRace.recommendedDelay) {
        race = AttemptRace(attemptDelay: attemptDelay)
        unsettled = families
    }

    package var startedCount: Int { race.startedCount }
    package var candidateCount: Int { destinations.count }
    /// The candidates whose attempts have not started, in order.
    package var untried: [Candidate] { order }

    // MARK: Events

    /// Adds new addresses and skips known ones. Numbers the new candidates in the order of their arrival, starting at
    /// the current ``candidateCount``.
    package mutating func found(
        _ new: [(destination: Destination, experience: History)], at now: Duration
    ) -> (candidates: Range<Candidate>, steps: [Step]) {
        let first = destinations.count
        var known = Set(destinations.map(\.address))
        for (destination, experience) in new where known.insert(destination.address).inserted {
            destinations.append(destination)
            histories.append(experience)
        }
        let range = first..<destinations.count
        guard !range.isEmpty else { return (range, advance(to: now)) }
        held += range
        if holdEnds == nil { holdEnds = now + Self.resolutionDelay }
        return (range, admit(at: now))
    }

    /// Adds candidates in the order that the caller has chosen, for example if the endpoint is an address.
    ///
    /// All these candidates join the race immediately.
    package mutating func given(_ count: Int, at now: Duration) -> [Step] {
        hasBegun = true
        unsettled = []
        order = Array(0..<count)
        return note(race.joined(by: count, at: now) + race.closed(at: now))
    }

    /// Reports that no more addresses of this family will arrive.
    package mutating func settled(_ family: Family, at now: Duration) -> [Step] {
        guard unsettled.remove(family) != nil else { return [] }
        return admit(at: now)
    }

    package mutating func advance(to now: Duration) -> [Step] {
        if !hasBegun, !held.isEmpty { return admit(at: now) }
        return note(race.advance(to: now))
    }

    package mutating func connected(_ candidate: Candidate) -> [Step] { race.connected(candidate) }

    package mutating func failed(_ candidate: Candidate, at now: Duration) -> [Step] {
        note(race.failed(candidate, at: now))
    }

    package mutating func skipped(at now: Duration) -> [Step] { note(race.skipped(at: now)) }

    // MARK: Order

    /// Adds the waiting addresses to the race, unless they must still wait for IPv6 addresses (RFC 8305 §6).
    private mutating func admit(at now: Duration) -> [Step] {
        var steps: [Step] = []
        if !held.isEmpty {
            guard hasBegun || mayBegin(at: now) else { return holdEnds.map { [.wake(at: $0)] } ?? [] }
            hasBegun = true
            let count = held.count
            order = arranged(order + held)
            held = []
            steps = note(race.joined(by: count, delays: order.map(delay(after:)), arranged: order, at: now))
        }
        if unsettled.isEmpty { steps += note(race.closed(at: now)) }
        return steps
    }

    /// Returns whether the waiting candidates can join the race. Each of these conditions suffices:
    ///
    /// - No more addresses are expected.
    /// - The resolution delay is over.
    /// - One usable candidate need not wait for IPv6 addresses: it is an IPv6 address, it worked before, or no IPv6
    ///   answer is expected.
    private func mayBegin(at now: Duration) -> Bool {
        if unsettled.isEmpty { return true }
        if let holdEnds, now >= holdEnds { return true }
        return held.contains { candidate in
            guard rank(candidate) >= 0 else { return false }
            let isAwaitingBetter = unsettled.contains(.ipv6) && destinations[candidate].address.family != .ipv6
            return !isAwaitingBetter || histories[candidate].hasWorked
        }
    }

    /// Returns the candidates in the order in which to try them.
    ///
    /// First sorts the candidates by RFC 6724. Then moves addresses that worked earlier to the front, and addresses
    /// that failed last to the end. Finally alternates between IPv6 and IPv4 (RFC 8305 §4).
    private func arranged(_ candidates: [Candidate]) -> [Candidate] {
        let places = AddressOrder.sorted(candidates.map { destinations[$0] })
        let sorted = places.map { candidates[$0] }
        let ranked = [1, 0, -1].flatMap { rank in sorted.filter { self.rank($0) == rank } }
        guard let first = ranked.first else { return [] }
        var turn =
            lastFamily.map { $0 == .ipv6 ? InternetAddress.Family.ipv4 : .ipv6 } ?? destinations[first].address.family
        // Each queue contains its candidates in reverse order. `popLast()` therefore returns the candidate that comes
        // first.
        var queues: [InternetAddress.Family: [Candidate]] = [:]
        for candidate in ranked.reversed() {
            queues[destinations[candidate].address.family, default: []].append(candidate)
        }
        var result: [Candidate] = []
        while result.count < ranked.count {
            if let next = queues[turn]?.popLast() { result.append(next) }
            turn = turn == .ipv6 ? .ipv4 : .ipv6
        }
        return result
    }

    private func rank(_ candidate: Candidate) -> Int {
        let experience = histories[candidate]
        // An address without a route comes after all other addresses. So does an address with a recent failure, even if
        // it worked before.
        if destinations[candidate].source == nil || experience.hasFailed { return -1 }
        return experience.hasWorked ? 1 : 0
    }

    /// Returns the delay between this attempt and the next; `nil` if the round-trip time is not known.
    ///
    /// The delay is three times the round-trip time, but at least ``AttemptRace/minimumSpacing`` and at most
    /// ``longestDelay``. `nil` stands for the default delay.
    private func delay(after candidate: Candidate) -> Duration? {
        histories[candidate].roundTrip.map { min(max($0 * 3, AttemptRace.minimumSpacing), Self.longestDelay) }
    }

    private mutating func note(_ steps: [Step]) -> [Step] {
        for case .start(let candidate) in steps {
            order.removeAll { $0 == candidate }
            if candidate < destinations.count { lastFamily = destinations[candidate].address.family }
        }
        return steps
    }
}

extension AddressRace: ReturningMachine {
    package typealias Action = Step

    package var hasEnded: Bool { race.hasEnded }
    package var deadline: Duration? { !hasBegun && !held.isEmpty ? holdEnds : race.deadline }
}
