package import CausewayTypes
package import CausewayWire

/// Decides which multicast groups to join on which interfaces while interfaces appear and disappear (RFC 1112 §7.1, RFC
/// 3493 §5.2).
///
/// A group is joined on each suitable interface; a group with a scope (`ff02::fb%eth0`) only on the scope's interface.
/// The owner performs the actions and reports failed joins.
package struct GroupMembership: Sendable {
    /// An interface that the program permits.
    package struct Candidate: Equatable, Sendable {
        package var index: Int
        /// The address families in which the interface has a usable address.
        package var families: Set<InternetAddress.Family>

        package init(index: Int, families: Set<InternetAddress.Family>) {
            self.index = index
            self.families = families
        }
    }

    /// The membership of one group on one interface.
    package struct Membership: Hashable, Sendable {
        /// The group's index in ``GroupMembership/groups``.
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

    /// The groups in the program's order.
    package let groups: [InternetAddress]
    /// The current memberships, by group and then by interface.
    package private(set) var joined: [Membership] = []
    /// For each group, the first join failure on the current interfaces.
    private var failures: [Int: Failure] = [:]

    package init(groups: [InternetAddress]) {
        self.groups = groups
    }

    /// Updates the memberships for the current interfaces. The actions leave groups before they join others, because
    /// the kernel limits the number of groups for each socket.
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

    /// Reports that a join failed.
    ///
    /// - Parameter isGone: Whether the interface has disappeared in the meantime. The failure is then not recorded,
    ///   because the next call of ``interfacesChanged(to:)`` reports the interface's removal.
    package mutating func joinFailed(_ membership: Membership, _ failure: Failure, isGone: Bool) {
        guard let position = joined.firstIndex(of: membership) else { return }
        joined.remove(at: position)
        if !isGone, failures[membership.group] == nil { failures[membership.group] = failure }
    }

    /// The failure of a group that had a suitable interface but could not be joined on any; `nil` if there is no such
    /// group. With one such group, the whole connection group has failed, because the program relies on all its groups.
    package var failure: Failure? {
        for position in groups.indices {
            guard let failure = failures[position], !joined.contains(where: { $0.group == position }) else { continue }
            return failure
        }
        return nil
    }

    /// Returns the interfaces on which a group is joined.
    package func interfaces(of group: Int) -> [Int] {
        joined.filter { $0.group == group }.map(\.interface)
    }

    /// Removes and returns all memberships. The caller must end them.
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

extension GroupMembership: UntimedMachine {
    package var hasEnded: Bool { false }
}
