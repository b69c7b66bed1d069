/// Decides which announced members a session connects to, and who dials.
///
/// Members are elements (peer, session handle). A pair that left is not connected again: only a new handle is.
struct RosterMachine: Sendable {
    enum Decision: Equatable, Sendable {
        /// Already known, gone, or oneself.
        case ignore
        case dial
        /// The peer dials; dial it at this time if it did not.
        case wait(until: Duration)
    }

    private struct Element: Hashable, Sendable {
        let peer: PeerKey
        let handle: SessionHandle
    }

    /// Elements remembered after they left.
    private static let goneLimit = 256
    /// Announced elements that are not members yet, so that a hostile member cannot fill the memory.
    private static let expectedLimit = 64

    private let own: PeerKey
    private var expected: [PeerKey: SessionHandle] = [:]
    private var gone: Set<Element> = []
    private(set) var epoch: UInt64 = 0

    init(own: PeerKey) { self.own = own }

    /// A member announced another one.
    ///
    /// - Parameter isListening: Whether this side can be dialled.
    mutating func learned(_ entry: RosterEntry, isListening: Bool, at now: Duration) -> Decision {
        guard entry.key != own, entry.key.id != own.id else { return .ignore }
        guard !gone.contains(Element(peer: entry.key, handle: entry.handle)) else { return .ignore }
        guard expected[entry.key] != nil || expected.count < Self.expectedLimit else { return .ignore }
        expected[entry.key] = entry.handle
        // The smaller peer dials. A side without a listener cannot be dialled, so it dials itself.
        return !isListening || own < entry.key && !entry.endpoints.isEmpty
            ? .dial : .wait(until: now + PeerTimes.largerDials)
    }

    /// Whether a peer that dials this session was announced.
    func expects(_ peer: PeerKey, _ handle: SessionHandle) -> Bool { expected[peer] == handle }

    mutating func expect(_ peer: PeerKey, _ handle: SessionHandle) { expected[peer] = handle }

    mutating func forget(_ peer: PeerKey) { expected[peer] = nil }

    /// The peer said that it leaves.
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
