internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch

/// Discovery beyond the public interface of Network. On Apple systems, `service(_:)` returns its argument and `reconfirm(_:)` does nothing.
enum PeerDiscovery {
    /// Declares that no other service has this name, so that the name is announced without probes. The name is unique
    /// because it is a key's digest. Probes would take 0.75 s (RFC 6762 §8.1).
    static func service(_ service: NWListener.Service) -> NWListener.Service {
        var unique = service
        unique.isKnownUnique = true
        return unique
    }

    /// Requests a check of an unreachable peer's service instances. Browsers lose the peer unless it answers.
    static func reconfirm(_ endpoints: [NWEndpoint]) {
        for endpoint in endpoints { endpoint.reconfirm() }
    }
}

/// Peers that were lost without a goodbye. Their services are queried every 2 s for a minute, so that a peer is found
/// as soon as a divided network is whole again. Regular queries would be too rare by then (RFC 6762 §5.2).
struct PeerSearches: Sendable {
    static let time = Duration.seconds(60)
    static let spacing = Duration.seconds(2)
    private static let limit = 32

    private var ends: [PeerKey: Duration] = [:]
    /// Whether the timer runs. The timer may still run when no search is left.
    private var isTimed = false

    /// Starts a search, or extends it. Returns whether the caller must start the timer.
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
    /// Checks the service instances of a member that is suspended or was lost without a goodbye. Also starts a search
    /// for a lost member.
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

    /// Queries for the peers that are still lost.
    fileprivate mutating func search(at now: Duration) {
        let wanted = searches.due(at: now)
        for peer in wanted { request(.reconfirm(places.endpoints(of: peer))) }
        if !wanted.isEmpty { request(.search) }
    }
}

extension PeerNode {
    /// Continues the searches later.
    func scheduleSearch() {
        queue.call(after: PeerSearches.spacing) { [weak self] in
            self?.apply { core, now in core.search(at: now) }
        }
    }
}
