/// Received invitations that the program has not answered. A peer can have one such invitation; their number per
/// address and in total is limited too.
struct InvitationMachine: Sendable {
    struct Pending: Equatable, Sendable {
        let link: LinkID
        let peer: PeerInfo
        let context: [UInt8]?
        /// The service type with which the inviter found this peer; empty if unknown.
        var service = ""
        /// The address for the per-address limit; `nil` for peers on this host.
        let address: [UInt8]?
        /// Whether the inviter's key was recorded earlier. Such an invitation is never removed to make space for
        /// another invitation.
        var isRecorded = false

        /// The source to which an invitation is counted. This is the sender's address, or the peer's key if the peer is
        /// on this host.
        fileprivate var source: [UInt8] { address ?? peer.key.digestBytes }
    }

    enum Decision: Equatable, Sendable {
        case ask(InvitationID)
        case refuse(PeerReason)
    }

    private var pending: [InvitationID: Pending] = [:]
    private var last = 0
    private var frequency = InvitationFrequency()

    var count: Int { pending.count }

    /// Whether the link's invitation waits for an answer.
    func isPending(_ link: LinkID) -> Bool { pending.values.contains { $0.link == link } }

    func isAsked(_ id: InvitationID) -> Bool { pending[id] != nil }

    /// Counts an invitation. If the table is full, returns the link whose invitation must be removed.
    ///
    /// The removed invitation is the oldest one from the address with the largest number of recent invitations. So a
    /// flood displaces its own invitations. The program still learns of a peer that invites once.
    mutating func displaced(by invitation: Pending, limit: Int, limitPerAddress: Int) -> LinkID? {
        frequency.count(invitation.source)
        guard pending.count >= limit, isAdmissible(invitation, limitPerAddress: limitPerAddress) else { return nil }
        let weight = invitation.isRecorded ? 0 : frequency[invitation.source]
        return pending.filter { !$0.value.isRecorded && frequency[$0.value.source] >= weight }
            .max { (frequency[$0.value.source], $1.key.rawValue) < (frequency[$1.value.source], $0.key.rawValue) }?
            .value.link
    }

    /// Returns whether another invitation is permitted. A peer may have only one pending invitation, and the number for
    /// each address is limited.
    private func isAdmissible(_ invitation: Pending, limitPerAddress: Int) -> Bool {
        guard !pending.values.contains(where: { $0.peer.key == invitation.peer.key }) else { return false }
        return invitation.address.map { address in pending.values.count { $0.address == address } < limitPerAddress }
            ?? true
    }

    /// Accepts or refuses an invitation. If both sides invite each other, both programs are asked.
    mutating func arrived(_ invitation: Pending, limit: Int, limitPerAddress: Int) -> Decision {
        guard !pending.values.contains(where: { $0.peer.key == invitation.peer.key }) else {
            return .refuse(.duplicate)
        }
        let sameAddress = invitation.address.map { address in pending.values.count { $0.address == address } } ?? 0
        guard pending.count < limit, sameAddress < limitPerAddress else { return .refuse(.tooMuch) }
        last += 1
        let id = InvitationID(last)
        pending[id] = invitation
        return .ask(id)
    }

    /// Returns an invitation's service type; empty if it is unknown or the invitation was answered.
    func service(of id: InvitationID) -> String { pending[id]?.service ?? "" }

    /// Removes and returns an invitation, because the program answers it.
    mutating func answered(_ id: InvitationID) -> Pending? { pending.removeValue(forKey: id) }

    /// The link has ended, so removes and returns the invitation that arrived on it.
    mutating func removed(_ link: LinkID) -> (id: InvitationID, invitation: Pending)? {
        guard let (id, invitation) = pending.first(where: { $0.value.link == link }) else { return nil }
        pending[id] = nil
        return (id, invitation)
    }

    /// Returns the pending invitation from this peer.
    func asked(from peer: PeerKey) -> InvitationID? {
        pending.first { $0.value.peer.key == peer }?.key
    }
}
