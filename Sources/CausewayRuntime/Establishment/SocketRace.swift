internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// An ``AddressRace`` with its addresses and the sockets that are connecting to them. Confined to the connector's loop.
struct SocketRace {
    typealias Candidate = AddressRace.Candidate
    typealias Step = AddressRace.Step

    private var order: AddressRace
    /// The addresses to connect to. The index of an address is also the candidate number of this address in
    /// ``AddressRace``.
    private(set) var addresses: [SocketAddress] = []
    private(set) var attempts: [Candidate: Attempt] = [:]
    private var timer: TimerID?
    /// The number of attempts outside this race: in earlier races, and over other interfaces.
    private var otherCount = 0

    init(awaiting families: Set<NameLookup.Family>) { order = AddressRace(awaiting: families) }

    /// The number of attempts started so far. The attempts outside this race are included.
    var startedCount: Int { otherCount + order.startedCount }
    /// Whether this race has started at most one attempt.
    var isYoung: Bool { order.startedCount <= 1 }
    /// The addresses whose attempts have not started, in racing order.
    var untried: [SocketAddress] { order.untried.map { addresses[$0] } }

    mutating func countOthers(_ count: Int) { otherCount += count }

    // MARK: Addresses

    /// Starts the race with addresses in the caller's order.
    mutating func given(_ addresses: [SocketAddress], at now: Duration) -> [Step] {
        self.addresses = addresses
        return order.given(addresses.count, at: now)
    }

    /// Starts the race again with other addresses. Call this after all attempts with the earlier addresses have failed.
    mutating func givenInstead(_ addresses: [SocketAddress], at now: Duration) -> [Step] {
        otherCount += order.startedCount
        order = AddressRace(awaiting: [])
        return given(addresses, at: now)
    }

    /// Adds the addresses that a lookup has found. Leaves out addresses that the race already has.
    ///
    /// An address and its IPv4-mapped form count as the same address. ``AddressRace`` leaves out the same addresses. So
    /// the indices in ``addresses`` stay equal to its candidate numbers.
    mutating func found(_ candidates: [FoundAddress], at now: Duration) -> [Step] {
        var known = Set(addresses.compactMap(\.internetAddress))
        let new = candidates.filter { known.insert($0.destination.address).inserted }
        addresses += new.map(\.address)
        return order.found(new.map { ($0.destination, $0.history) }, at: now).steps
    }

    mutating func settled(_ family: NameLookup.Family, at now: Duration) -> [Step] { order.settled(family, at: now) }

    // MARK: Attempts

    /// Creates an attempt to connect to a candidate, which is an index in ``addresses``. The caller must start the
    /// attempt.
    mutating func begin(_ candidate: Candidate, of connector: Connector) -> Attempt {
        let attempt = Attempt(candidate, addresses[candidate], connector)
        attempts[candidate] = attempt
        return attempt
    }

    /// Removes and returns an attempt. The caller must then call `win` or `abandon` on it.
    mutating func take(_ candidate: Candidate) -> Attempt? { attempts.removeValue(forKey: candidate) }

    mutating func connected(_ candidate: Candidate) -> [Step] { order.connected(candidate) }
    mutating func failed(_ candidate: Candidate, at now: Duration) -> [Step] { order.failed(candidate, at: now) }
    mutating func skipped(at now: Duration) -> [Step] { order.skipped(at: now) }

    // MARK: Time

    mutating func advance(to now: Duration) -> [Step] { order.advance(to: now) }

    /// Replaces the timer for the next call to ``advance(to:)``.
    mutating func wake(by next: TimerID, on loop: any EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = next
    }

    /// Closes all sockets that are still connecting.
    mutating func stop(on loop: any EventLoop) {
        if let timer = timer.take() { loop.cancel(timer) }
        for attempt in attempts.values { attempt.abandon() }
        attempts = [:]
    }
}

/// An address from a lookup, with the data that determines its position in the race.
struct FoundAddress {
    var address: SocketAddress
    var destination: Destination
    var history: AddressRace.History
}
