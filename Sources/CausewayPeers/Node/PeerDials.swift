internal import Causeway
internal import CausewayPeerProtocols

/// The attempts to reach one peer: candidates start one after another, and the first TLS session wins.
struct PeerRace: Sendable {
    /// A candidate to start.
    struct Start: Sendable {
        let endpoint: NWEndpoint
        let peer: PeerKey
        /// The number of candidates started so far.
        let count: Int
        let isLast: Bool
    }

    let dial: PeerDial
    var candidates: [NWEndpoint]
    private(set) var running: [PeerLink] = []
    /// The delays after which all candidates are tried again.
    private(set) var pauses: [Duration] = []
    /// The number of candidates started so far. When a candidate's timer fires, the next candidate is started only if
    /// this number is the same as when the timer was set.
    private(set) var startCount = 0
    /// The number of candidates that ``takeCandidate()`` has returned and that have no link yet.
    private(set) var linklessCount = 0

    /// Whether a candidate was started and has not failed.
    var isRunning: Bool { linklessCount > 0 || !running.isEmpty }

    /// Removes and returns the candidate to start; `nil` if none is left. The caller must add its link.
    mutating func takeCandidate() -> NWEndpoint? {
        guard !candidates.isEmpty else { return nil }
        startCount += 1
        linklessCount += 1
        return candidates.removeFirst()
    }

    /// Adds the link of a candidate from ``takeCandidate()``.
    mutating func add(_ link: PeerLink) {
        linklessCount -= 1
        running.append(link)
    }

    mutating func remove(_ link: PeerLink) { running.removeAll { $0 === link } }

    /// Removes and returns the delay before all candidates are tried again; `nil` if they are not tried again.
    mutating func takePause() -> Duration? { pauses.isEmpty ? nil : pauses.removeFirst() }
}

/// A node's dials, of which only a few run at a time.
///
/// Peers that find each other both invite, and one of the two invitations is enough. When many peers find each other at
/// once, the peer with the larger key waits briefly for the other peer's dial. This saves nearly half of the
/// handshakes.
struct PeerDials: Sendable {
    /// The maximum number of dials running at a time. Dials that replace a control link or open a connection for
    /// resource bytes never wait.
    static let limit = 4
    /// The time after which a running dial no longer delays others.
    static let patience = Duration.seconds(1)
    /// How long the peer with the larger key delays a dial while many peers find each other at once: after more than
    /// ``limit`` dials within ``longestCourtesy``. Each connection from a peer starts this time again, but the delay
    /// ends at most ``longestCourtesy`` after the dial was added.
    static let courtesy = Duration.milliseconds(700)
    static let longestCourtesy = Duration.seconds(5)

    private struct Place: Sendable {
        let id: LinkID
        /// Whether the other peer has the smaller key, so that this peer should wait for that peer's dial.
        let isCourteous: Bool
        let since: Duration
    }

    private var races: [LinkID: PeerRace] = [:]
    private var waiting: [Place] = []
    private var started: [LinkID: Duration] = [:]
    /// The times at which the newest dials were added, in ascending order.
    private var recent: [Duration] = []
    private var lastArrival: Duration?
    /// Whether a call to ``nextToStart(at:)`` is scheduled.
    var isAwaited = false

    subscript(id: LinkID) -> PeerRace? {
        get { races[id] }
        _modify { yield &races[id] }
    }

    /// Adds the link of a dial's candidate. Returns `false` if the dial has ended.
    mutating func add(_ link: PeerLink, to id: LinkID) -> Bool {
        guard races[id] != nil else { return false }
        races[id]?.add(link)
        return true
    }

    /// The dial for which a link is a candidate.
    func dial(of link: PeerLink) -> LinkID? { races.first { $0.value.running.contains { $0 === link } }?.key }

    mutating func add(_ id: LinkID, _ race: PeerRace, own: PeerKey, at now: Duration) {
        races[id] = race
        recent = recent.suffix(Self.limit) + [now]
        let place = Place(id: id, isCourteous: race.dial.peer < own && !race.dial.isUrgent, since: now)
        // Urgent dials come first. The others keep their order.
        waiting.insert(place, at: race.dial.isUrgent ? 0 : waiting.count)
    }

    @discardableResult
    mutating func remove(_ id: LinkID) -> PeerRace? {
        started[id] = nil
        waiting.removeAll { $0.id == id }
        return races.removeValue(forKey: id)
    }

    /// Returns the next dial to start; `nil` if all must wait until a dial ends or ``timeToLook(at:)`` has passed.
    mutating func nextToStart(at now: Duration) -> LinkID? {
        guard !waiting.isEmpty else { return nil }
        if races[waiting[0].id]?.dial.isUrgent == true { return start(0, at: now) }
        guard started.values.count(where: { now - $0 < Self.patience }) < Self.limit else { return nil }
        let isCrowded = recent.count > Self.limit && now - recent[0] < Self.longestCourtesy
        let index = waiting.firstIndex { !isCrowded || time(of: $0) <= now }
        return index.map { start($0, at: now) }
    }

    /// Records that a peer connected to this peer: more peers may be about to connect.
    mutating func arrived(at now: Duration) { lastArrival = now }

    /// Returns when a dial may start while many peers find each other at once.
    private func time(of place: Place) -> Duration {
        guard place.isCourteous else { return place.since }
        let start = max(place.since, lastArrival ?? place.since)
        return min(start + Self.courtesy, place.since + Self.longestCourtesy)
    }

    private mutating func start(_ index: Int, at now: Duration) -> LinkID {
        let id = waiting.remove(at: index).id
        started[id] = now
        return id
    }

    /// Returns the delay before the next check whether a waiting dial may start, and records that this check is
    /// scheduled. Returns `nil` if no dial waits, or if a check is already scheduled. If a running dial ends before the
    /// check, a waiting dial may start earlier.
    mutating func timeToLook(at now: Duration) -> Duration? {
        guard !waiting.isEmpty, !isAwaited else { return nil }
        isAwaited = true
        let times = started.values.map { $0 + Self.patience } + waiting.map { time(of: $0) }
        return max(.milliseconds(1), (times.filter { $0 > now }.min() ?? now) - now)
    }
}

extension PeerDial {
    /// Whether a connected member waits for this dial.
    fileprivate var isUrgent: Bool { purpose == .resumption || purpose == .lane }
}
