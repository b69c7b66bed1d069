internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

/// Discovery beyond the public interface of Network. On Apple systems, `service(_:)` returns its argument and `reconfirm(_:)` does nothing.
enum PeerDiscovery {
    /// Declares that no other host uses this service name. The name is then announced without probes.
    ///
    /// The name is the digest of a key, so it is unique. Probes would take 0.75 s (RFC 6762 §8.1).
    static func service(_ service: NWListener.Service) -> NWListener.Service {
        var unique = service
        unique.isKnownUnique = true
        return unique
    }

    /// Requests a check of the service instances of an unreachable peer. If the peer does not answer, it disappears
    /// from the browsers.
    static func reconfirm(_ endpoints: [NWEndpoint]) {
        for endpoint in endpoints { endpoint.reconfirm() }
    }
}

/// Searches for peers that were lost without a goodbye.
///
/// The services of such a peer are queried every 2 s for a minute. So the peer is found as soon as a divided network is
/// whole again. By then, regular queries would be too rare (RFC 6762 §5.2).
struct PeerSearches: Sendable {
    static let time = Duration.seconds(60)
    static let spacing = Duration.seconds(2)
    private static let limit = 32

    private var ends: [PeerKey: Duration] = [:]
    /// Whether the timer for searches runs. It may still run for some time after the last search has ended.
    private var isTimed = false

    /// Starts a search for a peer, or extends a running search. Returns whether the caller must start the timer.
    mutating func begin(_ peer: PeerKey, at now: Duration) -> Bool {
        guard ends.count < Self.limit || ends[peer] != nil else { return false }
        ends[peer] = now + Self.time
        defer { isTimed = true }
        return !isTimed
    }

    mutating func end(_ peer: PeerKey) { ends[peer] = nil }

    /// Returns the peers to query when the timer fires. If there are none, the caller must not start the timer again.
    mutating func due(at now: Duration) -> [PeerKey] {
        ends = ends.filter { $0.value > now }
        isTimed = !ends.isEmpty
        return Array(ends.keys)
    }
}

extension NodeCore {
    /// Checks whether a member's service instances still exist. Called for a member that is suspended or was lost
    /// without a goodbye.
    ///
    /// For a lost member, also starts a search.
    mutating func reconfirm(_ member: MemberID, _ state: MemberState, at now: Duration) {
        switch state {
        case .suspended: request(.reconfirm(places.endpoints(of: member.peer)))
        case .notConnected(.lost), .notConnected(.unreachable):
            request(.reconfirm(places.endpoints(of: member.peer)))
            if searches.begin(member.peer, at: now) { request(.search) }
        case .connected: searches.end(member.peer)
        case .connecting, .resumed, .notConnected: break
        }
    }

    /// Starts queries for the lost peers whose search is due.
    fileprivate mutating func search(at now: Duration) {
        let wanted = searches.due(at: now)
        for peer in wanted { request(.reconfirm(places.endpoints(of: peer))) }
        if !wanted.isEmpty { request(.search) }
    }
}

extension PeerNode {
    /// Schedules the next step of the searches for lost peers.
    func scheduleSearch() {
        queue.call(after: PeerSearches.spacing) { [weak self] in
            self?.apply { core, now in core.search(at: now) }
        }
    }
}
