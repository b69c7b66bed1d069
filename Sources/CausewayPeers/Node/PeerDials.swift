internal import Causeway
internal import CausewayPeerProtocols

/// The attempts to reach one peer. The candidates start one after another. The first TLS session that is established
/// wins.
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
    /// The delays that remain. After each delay, all candidates are tried again.
    private(set) var pauses: [Duration] = []
    /// How many candidates have been started so far. A candidate's timer remembers this number. When the timer fires,
    /// the next candidate is started only if the number is still the same.
    private(set) var startCount = 0
    /// The number of candidates that ``takeCandidate()`` has returned, but that do not have a link yet.
    private(set) var linklessCount = 0

    /// Whether an attempt to connect to one of the candidates is in progress.
    var isRunning: Bool { linklessCount > 0 || !running.isEmpty }

    /// Removes and returns the candidate to start; `nil` if none is left. The caller must add its link.
    mutating func takeCandidate() -> NWEndpoint? {
        guard !candidates.isEmpty else { return nil }
        startCount += 1
        linklessCount += 1
        return candidates.removeFirst()
    }

    /// Records that a link now exists for a candidate that ``takeCandidate()`` returned.
    mutating func add(_ link: PeerLink) {
        linklessCount -= 1
        running.append(link)
    }

    mutating func remove(_ link: PeerLink) { running.removeAll { $0 === link } }

    /// After all candidate addresses have been tried, they may be tried again after a pause. Removes and returns this
    /// pause. Returns `nil` if they are not tried again.
    mutating func takePause() -> Duration? { pauses.isEmpty ? nil : pauses.removeFirst() }
}

/// A node's outgoing connection attempts ("dials"). Only a few run at a time.
///
/// Two peers that find each other both send an invitation, but one is enough. When many peers find each other at once,
/// the peer with the larger key waits briefly for the other peer's dial. This saves nearly half of the handshakes.
struct PeerDials: Sendable {
    /// The maximum number of dials that run at a time. Some dials never wait: those that replace a control link, and
    /// those that open a connection for resource bytes.
    static let limit = 4
    /// When a connection attempt has run for this time, it no longer delays other attempts.
    static let patience = Duration.seconds(1)
    /// How long the peer with the larger key delays a connection attempt while many peers find each other at once. Many
    /// means more than ``limit`` attempts within ``longestCourtesy``.
    ///
    /// Each connection from a peer restarts the delay. The delay ends at most ``longestCourtesy`` after the attempt was
    /// added.
    static let courtesy = Duration.milliseconds(700)
    static let longestCourtesy = Duration.seconds(5)

    private struct Place: Sendable {
        let id: LinkID
        /// Whether the other peer has the smaller key. If so, this peer waits a while for the other peer to connect.
        let isCourteous: Bool
        let since: Duration
    }

    private var races: [LinkID: PeerRace] = [:]
    private var waiting: [Place] = []
    private var started: [LinkID: Duration] = [:]
    /// The times at which the latest connection attempts were added, in ascending order.
    private var recent: [Duration] = []
    private var lastArrival: Duration?
    /// Whether a call to ``nextToStart(at:)`` is scheduled.
    var isAwaited = false

    subscript(id: LinkID) -> PeerRace? {
        get { races[id] }
        _modify { yield &races[id] }
    }

    /// Adds a candidate's link to a connection attempt.
    ///
    /// Returns `false` if the attempt has already ended.
    mutating func add(_ link: PeerLink, to id: LinkID) -> Bool {
        guard races[id] != nil else { return false }
        races[id]?.add(link)
        return true
    }

    /// Returns the connection attempt to which a candidate link belongs.
    func dial(of link: PeerLink) -> LinkID? { races.first { $0.value.running.contains { $0 === link } }?.key }

    mutating func add(_ id: LinkID, _ race: PeerRace, own: PeerKey, at now: Duration) {
        races[id] = race
        recent = recent.suffix(Self.limit) + [now]
        let place = Place(id: id, isCourteous: race.dial.peer < own && !race.dial.isUrgent, since: now)
        // Insert urgent connection attempts at the front. All other attempts keep their order.
        waiting.insert(place, at: race.dial.isUrgent ? 0 : waiting.count)
    }

    @discardableResult
    mutating func remove(_ id: LinkID) -> PeerRace? {
        started[id] = nil
        waiting.removeAll { $0.id == id }
        return races.removeValue(forKey: id)
    }

    /// Returns the next connection attempt to start. Returns `nil` if all attempts must wait until another one ends or
    /// ``timeToLook(at:)`` has passed.
    mutating func nextToStart(at now: Duration) -> LinkID? {
        guard !waiting.isEmpty else { return nil }
        if races[waiting[0].id]?.dial.isUrgent == true { return start(0, at: now) }
        guard started.values.count(where: { now - $0 < Self.patience }) < Self.limit else { return nil }
        let isCrowded = recent.count > Self.limit && now - recent[0] < Self.longestCourtesy
        let index = waiting.firstIndex { !isCrowded || time(of: $0) <= now }
        return index.map { start($0, at: now) }
    }

    /// Records the time at which another peer connected to this peer. Other peers may also connect soon, so this peer
    /// delays its own attempts.
    mutating func arrived(at now: Duration) { lastArrival = now }

    /// Returns the time at which the connection attempt may start. If many peers find each other at once, some attempts
    /// start later.
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

    /// Returns the delay after which to check again whether a waiting dial may start. Records that this check is
    /// scheduled.
    ///
    /// Returns `nil` if no dial waits, or if a check is already scheduled. If a running dial ends before the check, a
    /// waiting dial may start earlier.
    mutating func timeToLook(at now: Duration) -> Duration? {
        guard !waiting.isEmpty, !isAwaited else { return nil }
        isAwaited = true
        let times = started.values.map { $0 + Self.patience } + waiting.map { time(of: $0) }
        return max(.milliseconds(1), (times.filter { $0 > now }.min() ?? now) - now)
    }
}

extension PeerDial {
    /// Whether the attempt is urgent, because a connected member waits for it.
    fileprivate var isUrgent: Bool { purpose == .resumption || purpose == .lane }
}
