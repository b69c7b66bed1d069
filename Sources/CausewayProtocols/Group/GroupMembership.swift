package import CausewayTypes
package import CausewayWire

/// Decides which multicast groups to join on which interfaces (RFC 1112 §7.1, RFC 3493 §5.2). Interfaces can appear and
/// disappear at any time.
///
/// A group is joined on each suitable interface. A group with a scope (`ff02::fb%eth0`) is joined only on the scope's
/// interface. The owner performs the actions and reports failed joins.
package struct GroupMembership: Sendable {
    /// An interface that the program permits for the groups.
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

    /// The multicast groups, in the order in which the program listed them.
    package let groups: [InternetAddress]
    /// The current memberships, by group and then by interface.
    package private(set) var joined: [Membership] = []
    /// For each multicast group, the first error of the attempts to join it on the current interfaces.
    private var failures: [Int: Failure] = [:]

    package init(groups: [InternetAddress]) {
        self.groups = groups
    }

    /// Updates the memberships after the set of interfaces has changed.
    ///
    /// In the returned actions, the socket leaves groups before it joins others. This order is needed because the
    /// kernel limits the number of groups for each socket.
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

    /// Reports that a multicast group could not be joined.
    ///
    /// - Parameter isGone: Whether the interface has disappeared since then. If so, the failure is not recorded,
    ///   because the next call of ``interfacesChanged(to:)`` reports the removal.
    package mutating func joinFailed(_ membership: Membership, _ failure: Failure, isGone: Bool) {
        guard let position = joined.firstIndex(of: membership) else { return }
        joined.remove(at: position)
        if !isGone, failures[membership.group] == nil { failures[membership.group] = failure }
    }

    /// The failure of a multicast group that could not be joined; `nil` if there is none.
    ///
    /// Such a group has a suitable interface but could not be joined on any. One such group makes the whole connection
    /// group fail, because the program relies on all its groups.
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

    /// Removes all memberships and returns them. The caller must leave the groups at the kernel.
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
