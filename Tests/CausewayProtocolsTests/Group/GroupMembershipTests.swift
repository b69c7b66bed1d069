import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("Group membership")
struct GroupMembershipTests {
    typealias Membership = GroupMembership.Membership
    typealias Candidate = GroupMembership.Candidate

    static let v4 = InternetAddress.ipv4(IPv4Address(bits: 0xef01_0203))
    static let v6 = InternetAddress.ipv6(IPv6Address(high: 0xff02_0000_0000_0000, low: 7))
    static let failure = Failure(errno: 105)

    static func candidate(_ index: Int, _ families: InternetAddress.Family...) -> Candidate {
        Candidate(index: index, families: Set(families))
    }

    static func join(_ group: Int, _ interface: Int) -> GroupMembership.Action {
        .join(Membership(group: group, interface: interface))
    }

    static func leave(_ group: Int, _ interface: Int) -> GroupMembership.Action {
        .leave(Membership(group: group, interface: interface))
    }

    @Test("Each group is joined on each interface that supports its family")
    func everywhere() {
        var membership = GroupMembership(groups: [Self.v4, Self.v6])
        let actions = membership.interfacesChanged(
            to: [Self.candidate(2, .ipv4, .ipv6), Self.candidate(3, .ipv6), Self.candidate(4)])
        #expect(actions == [Self.join(0, 2), Self.join(1, 2), Self.join(1, 3)])
        #expect(membership.interfaces(of: 0) == [2] && membership.interfaces(of: 1) == [2, 3])
    }

    @Test("Unchanged memberships stay; old ones are left before new ones are joined")
    func changes() {
        var membership = GroupMembership(groups: [Self.v4])
        _ = membership.interfacesChanged(to: [Self.candidate(2, .ipv4), Self.candidate(3, .ipv4)])
        let same = membership.interfacesChanged(to: [Self.candidate(3, .ipv4), Self.candidate(2, .ipv4)])
        #expect(same.isEmpty)
        let actions = membership.interfacesChanged(to: [Self.candidate(3, .ipv4), Self.candidate(5, .ipv4)])
        #expect(actions == [Self.leave(0, 2), Self.join(0, 5)])
        #expect(membership.interfacesChanged(to: []) == [Self.leave(0, 3), Self.leave(0, 5)])
        #expect(membership.joined.isEmpty)
    }

    @Test("A group with a specific interface is joined only there")
    func scoped() {
        let interface = NWInterface(name: "eth1", index: 3, type: .wiredEthernet)
        let group = InternetAddress.ipv6(IPv6Address(high: 0xff02_0000_0000_0000, low: 7, interface: interface))
        var membership = GroupMembership(groups: [group])
        let actions = membership.interfacesChanged(to: [Self.candidate(2, .ipv6), Self.candidate(3, .ipv6)])
        #expect(actions == [Self.join(0, 3)])
    }

    @Test("A group that is listed twice is joined twice")
    func twice() {
        var membership = GroupMembership(groups: [Self.v4, Self.v4])
        #expect(membership.interfacesChanged(to: [Self.candidate(2, .ipv4)]) == [Self.join(0, 2), Self.join(1, 2)])
    }

    @Test("A failed join is tried again at the next change")
    func retry() {
        var membership = GroupMembership(groups: [Self.v4])
        _ = membership.interfacesChanged(to: [Self.candidate(2, .ipv4)])
        membership.joinFailed(Membership(group: 0, interface: 2), Self.failure, isGone: true)
        #expect(membership.joined.isEmpty && membership.failure == nil)
        #expect(membership.interfacesChanged(to: [Self.candidate(2, .ipv4)]) == [Self.join(0, 2)])
    }

    @Test("A group that cannot be joined anywhere is a failure; one that is joined somewhere is not")
    func failures() {
        var membership = GroupMembership(groups: [Self.v4, Self.v6])
        let both = [Self.candidate(2, .ipv4, .ipv6), Self.candidate(3, .ipv4)]
        _ = membership.interfacesChanged(to: both)
        membership.joinFailed(Membership(group: 0, interface: 2), Self.failure, isGone: false)
        #expect(membership.failure == nil && membership.interfaces(of: 0) == [3])
        membership.joinFailed(Membership(group: 0, interface: 3), Self.failure, isGone: false)
        #expect(membership.failure == Self.failure)
        membership.joinFailed(Membership(group: 9, interface: 9), Self.failure, isGone: false)
        _ = membership.interfacesChanged(to: both)
        #expect(membership.failure == nil)
    }

    @Test("Leaving all lists each membership once")
    func leaveAll() {
        var membership = GroupMembership(groups: [Self.v4])
        _ = membership.interfacesChanged(to: [Self.candidate(2, .ipv4), Self.candidate(3, .ipv4)])
        let (all, nothing) = (membership.leaveAll(), membership.leaveAll())
        #expect(all.map(\.interface) == [2, 3] && nothing.isEmpty)
    }
}
