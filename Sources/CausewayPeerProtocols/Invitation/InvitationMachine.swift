/// Invitations that arrived and are not answered. Bounded per peer, per address and in all.
struct InvitationMachine: Sendable {
    struct Pending: Equatable, Sendable {
        let link: LinkID
        let peer: PeerInfo
        let context: [UInt8]?
        /// The service type with which the inviter found this peer; empty if unknown.
        var service = ""
        /// The address for the limit; `nil` for peers on this host.
        let address: [UInt8]?
        /// Whether the key of the inviter is recorded. Such an invitation does not give way to one with an unknown key.
        var isRecorded = false

        /// Who is to blame for many invitations: an address, or a peer on this host.
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

    /// Whether an invitation of this link waits for an answer.
    func isPending(_ link: LinkID) -> Bool { pending.values.contains { $0.link == link } }

    func isAsked(_ id: InvitationID) -> Bool { pending[id] != nil }

    /// Counts an invitation, and returns the link of the one that gives way to it when all places are taken: the oldest one of the address
    /// that has invited most often of late. A flood then displaces its own invitations, and a peer that invites once is asked
    /// about, whether or not the program answers the others.
    mutating func displaced(by invitation: Pending, limit: Int, limitPerAddress: Int) -> LinkID? {
        frequency.count(invitation.source)
        guard pending.count >= limit, isAdmissible(invitation, limitPerAddress: limitPerAddress) else { return nil }
        let weight = invitation.isRecorded ? 0 : frequency[invitation.source]
        return pending.filter { !$0.value.isRecorded && frequency[$0.value.source] >= weight }
            .max { (frequency[$0.value.source], $1.key.rawValue) < (frequency[$1.value.source], $0.key.rawValue) }?
            .value.link
    }

    private func isAdmissible(_ invitation: Pending, limitPerAddress: Int) -> Bool {
        guard !pending.values.contains(where: { $0.peer.key == invitation.peer.key }) else { return false }
        return invitation.address.map { address in pending.values.count { $0.address == address } < limitPerAddress }
            ?? true
    }

    /// Decides about an invitation. If both sides invite each other, both programs are asked.
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

    /// The service type of an invitation.
    func service(of id: InvitationID) -> String { pending[id]?.service ?? "" }

    /// Removes an invitation that the program answers.
    mutating func answered(_ id: InvitationID) -> Pending? { pending.removeValue(forKey: id) }

    /// Removes the invitation of a link that ended.
    mutating func removed(_ link: LinkID) -> (id: InvitationID, invitation: Pending)? {
        guard let (id, invitation) = pending.first(where: { $0.value.link == link }) else { return nil }
        pending[id] = nil
        return (id, invitation)
    }

    /// The invitation that waits for the program's answer to a peer.
    func asked(from peer: PeerKey) -> InvitationID? {
        pending.first { $0.value.peer.key == peer }?.key
    }
}
