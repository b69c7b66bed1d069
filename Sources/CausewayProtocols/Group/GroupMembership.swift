package import CausewayTypes
package import CausewayWire

/// Decides which multicast groups are joined on which interfaces, as interfaces come and go (RFC 1112 §7.1, RFC 3493 §5.2).
///
/// A group is joined on each interface that can carry it; a group with an interface of its own (`ff02::fb%eth0`) on that one
/// alone. The owner joins and leaves as told, and reports what could not be joined.
package struct GroupMembership: Sendable {
    /// An interface that the program permits.
    package struct Candidate: Equatable, Sendable {
        package var index: Int
        /// The families of which it has a usable address.
        package var families: Set<InternetAddress.Family>

        package init(index: Int, families: Set<InternetAddress.Family>) {
            self.index = index
            self.families = families
        }
    }

    /// One group on one interface.
    package struct Membership: Hashable, Sendable {
        /// The group's place in the list of groups.
        package var group: Int
        package var interface: Int

        package init(group: Int, interface: Int) {
            self.group = group
            self.interface = interface
        }
    }

    package enum Action: Equatable, Sendable {
        case join(Membership)
        case leave(Membership)
    }

    /// In the order given by the program.
    package let groups: [InternetAddress]
    /// What is joined, in the order of groups and then of interfaces.
    package private(set) var joined: [Membership] = []
    /// Why memberships of the present interfaces failed; of each group the first.
    private var failures: [Int: Failure] = [:]

    package init(groups: [InternetAddress]) {
        self.groups = groups
    }

    /// These are the interfaces now. Leave first, then join: there is a limit to how many groups a socket can be in.
    package mutating func interfacesChanged(to candidates: [Candidate]) -> [Action] {
        failures = [:]
        var wanted: [Membership] = []
        for (position, group) in groups.enumerated() {
            for candidate in candidates where candidate.carries(group) {
                let membership = Membership(group: position, interface: candidate.index)
                if !wanted.contains(membership) { wanted.append(membership) }
            }
        }
        let left = joined.filter { !wanted.contains($0) }
        let new = wanted.filter { !joined.contains($0) }
        joined = wanted
        return left.map(Action.leave) + new.map(Action.join)
    }

    /// A membership could not be had.
    ///
    /// - Parameter isGone: The interface has disappeared since: there will be news of it, and nothing is wrong.
    package mutating func joinFailed(_ membership: Membership, _ failure: Failure, isGone: Bool) {
        guard let position = joined.firstIndex(of: membership) else { return }
        joined.remove(at: position)
        if !isGone, failures[membership.group] == nil { failures[membership.group] = failure }
    }

    /// Why a group is joined nowhere although there were interfaces for it. The program relies on every group it named.
    package var failure: Failure? {
        for position in groups.indices {
            guard let failure = failures[position], !joined.contains(where: { $0.group == position }) else { continue }
            return failure
        }
        return nil
    }

    /// All interfaces that the group at a place in the list is joined on.
    package func interfaces(of group: Int) -> [Int] {
        joined.filter { $0.group == group }.map(\.interface)
    }

    /// Everything that is joined, which is left now.
    package mutating func leaveAll() -> [Membership] {
        defer { joined = [] }
        return joined
    }
}

extension GroupMembership.Candidate {
    fileprivate func carries(_ group: InternetAddress) -> Bool {
        let own: NWInterface? =
            switch group {
            case .ipv4(let address): address.interface
            case .ipv6(let address): address.interface
            }
        return families.contains(group.family) && (own.map { $0.index == index } ?? true)
    }
}
