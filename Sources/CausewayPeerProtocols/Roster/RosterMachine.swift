/// Decides which announced members a session connects to, and which side dials.
///
/// A member is identified by peer and session handle. After a member left, only a new session handle of that peer is
/// accepted.
struct RosterMachine: Sendable {
    enum Decision: Equatable, Sendable {
        /// Do not connect to the announced member: it is the local peer, it has left, or too many peers were announced.
        case refuse(PeerReason)
        case dial
        /// The peer dials. If it has not dialled by this time, dial the peer.
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
    /// Maximum number of attempts to connect to announced peers that begin within ``PeerTimes/joining``. Each attempt
    /// costs dials and an event, even if the announcing member reports at once that the peer has left.
    private static let attemptLimit = 4 * PeerLimits.members

    private let own: PeerKey
    private var expected: [PeerKey: SessionHandle] = [:]
    private var gone: Set<Element> = []
    /// When the latest attempts began, the oldest first.
    private var attempts: [Duration] = []
    private(set) var epoch: UInt64 = 0

    init(own: PeerKey) { self.own = own }

    /// Decides what to do about an announced member.
    ///
    /// - Parameters:
    ///   - entry: The announced member.
    ///   - isOwn: Whether this side's program passed the member's connection data.
    ///   - isListening: Whether this side can be dialled.
    ///   - now: The current time.
    mutating func learned(_ entry: RosterEntry, isOwn: Bool, isListening: Bool, at now: Duration) -> Decision {
        guard entry.key != own, entry.key.id != own.id else { return .refuse(.duplicate) }
        guard !gone.contains(Element(peer: entry.key, handle: entry.handle)) else { return .refuse(.left) }
        guard expected[entry.key] != nil || expected.count < Self.expectedLimit, isOwn || mayAttempt(at: now) else {
            return .refuse(.tooMuch)
        }
        expected[entry.key] = entry.handle
        // The peer with the smaller key dials. A side without a listener cannot be dialled, so that side dials.
        return !isListening || own < entry.key && !entry.endpoints.isEmpty
            ? .dial : .wait(until: now + PeerTimes.largerDials)
    }

    /// Counts an attempt to connect, and returns `true`. If ``attemptLimit`` attempts began within
    /// ``PeerTimes/joining``, counts nothing and returns `false`.
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

    /// Records that the peer left the session by its own decision. Late announcements with the same session handle are
    /// then refused.
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
