/// Decides to which announced members a session connects. For each connection, decides which of the two peers opens it.
///
/// A peer and a session handle together identify a member. After a member has left, the same peer can return only with
/// a new session handle.
struct RosterMachine: Sendable {
    enum Decision: Equatable, Sendable {
        /// Do not connect to the announced member: it is the local peer, it has left, or too many peers were announced.
        case refuse(PeerReason)
        case dial
        /// Wait for the peer to connect. If it has not connected by this time, connect to the peer.
        case wait(until: Duration)
    }

    private struct Element: Hashable, Sendable {
        let peer: PeerKey
        let handle: SessionHandle
    }

    /// Maximum number of remembered members that left. When it is reached, all are forgotten.
    private static let goneLimit = 256
    /// Maximum number of announced peers, so that a hostile member cannot fill the memory.
    private static let expectedLimit = 64
    /// Maximum number of attempts to connect to announced peers within ``PeerTimes/joining``. Each attempt costs
    /// connections and an event. This is so even if the announcing member reports at once that the peer has left.
    private static let attemptLimit = 4 * PeerLimits.members

    private let own: PeerKey
    private var expected: [PeerKey: SessionHandle] = [:]
    private var gone: Set<Element> = []
    /// The start times of the latest connection attempts. The oldest time is first.
    private var attempts: [Duration] = []
    private(set) var epoch: UInt64 = 0

    init(own: PeerKey) { self.own = own }

    /// Decides what to do about a member that another member has announced.
    ///
    /// - Parameters:
    ///   - entry: The announced member.
    ///   - isOwn: Whether this side's program passed the member's connection data.
    ///   - isListening: Whether other peers can connect to this side.
    ///   - now: The current time.
    mutating func learned(_ entry: RosterEntry, isOwn: Bool, isListening: Bool, at now: Duration) -> Decision {
        guard entry.key != own, entry.key.id != own.id else { return .refuse(.duplicate) }
        guard !gone.contains(Element(peer: entry.key, handle: entry.handle)) else { return .refuse(.left) }
        guard expected[entry.key] != nil || expected.count < Self.expectedLimit, isOwn || mayAttempt(at: now) else {
            return .refuse(.tooMuch)
        }
        expected[entry.key] = entry.handle
        // Normally, the peer with the smaller key opens the connection. A side without a listener cannot be reached, so
        // it always opens the connection itself.
        return !isListening || own < entry.key && !entry.endpoints.isEmpty
            ? .dial : .wait(until: now + PeerTimes.largerDials)
    }

    /// Returns whether another connection attempt may begin now, and counts it. The result is `false` if
    /// ``attemptLimit`` attempts began within the last ``PeerTimes/joining``. Such a call is not counted.
    private mutating func mayAttempt(at now: Duration) -> Bool {
        attempts.removeAll { $0 + PeerTimes.joining <= now }
        guard attempts.count < Self.attemptLimit else { return false }
        attempts.append(now)
        return true
    }

    /// Whether the peer was announced with this handle.
    func expects(_ peer: PeerKey, _ handle: SessionHandle) -> Bool { expected[peer] == handle }

    mutating func expect(_ peer: PeerKey, _ handle: SessionHandle) { expected[peer] = handle }

    mutating func forget(_ peer: PeerKey) { expected[peer] = nil }

    /// Records that a peer has left the session because it wanted to. If another member later announces this peer with
    /// the same session handle, the announcement is refused.
    mutating func left(_ peer: PeerKey, _ handle: SessionHandle) {
        expected[peer] = nil
        if gone.count >= Self.goneLimit { gone.removeAll() }
        gone.insert(Element(peer: peer, handle: handle))
    }

    mutating func nextEpoch() -> UInt64 {
        epoch += 1
        return epoch
    }
}
