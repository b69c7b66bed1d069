package import CausewaySystem
internal import CausewayTypes
package import FoundationEssentials

/// What a group is: its addresses, whom it hears, and how its sockets are made.
package struct GroupPlan: Sendable {
    /// Numeric multicast addresses with one port. An IPv6 one may name its interface by its scope.
    package var groups: [SocketAddress]
    /// The only host to hear; `nil` for any.
    package var source: SocketAddress?
    /// Whether only what was sent to the groups themselves is delivered.
    package var isUnicastDisabled: Bool
    package var settings: FrozenSettings

    package init(
        groups: [SocketAddress], source: SocketAddress? = nil, isUnicastDisabled: Bool = false, settings: FrozenSettings
    ) {
        self.groups = groups
        self.source = source
        self.isUnicastDisabled = isUnicastDisabled
        self.settings = settings
    }

    var port: UInt16 { groups.first?.port ?? 0 }

    /// One socket for each family.
    var families: [SocketAddress.Family] {
        [SocketAddress.Family.ipv4, .ipv6].filter { family in groups.contains { $0.family == family } }
    }
}

/// One datagram that reached a group.
package struct GroupDatagram: Sendable {
    package var data: Data
    package var mark: PacketMark
    /// Who sent it.
    package var peer: SocketAddress
    /// The group, or the address of this host, that it was sent to.
    package var destination: SocketAddress?
    /// The kernel's index of the interface that it came by.
    package var interfaceIndex: Int
    /// Where it was received.
    package var socket: SharedDatagramSocket

    /// Where an answer goes, and where it comes from.
    package var answer: GroupTarget { .address(peer, source: answerSource) }

    /// The source of an answer; `nil` for the kernel's choice, since no answer comes from a group.
    var answerSource: SocketAddress? { destination.flatMap { $0.isMulticast ? nil : $0 } }
}

/// Where a message of a group goes.
package enum GroupTarget: Sendable {
    /// Every member, on every interface that it is joined on.
    case members
    /// One address: a member, or a single host. `source` is the address to send from.
    case address(SocketAddress, source: SocketAddress? = nil)
}

/// A message on its way out of a group.
package struct GroupOutbound: Sendable {
    /// `nil` sends nothing.
    package var data: Data?
    package var target: GroupTarget
    /// DSCP and ECN; `nil` for the socket's own.
    package var trafficClass: UInt8?
    package var completion: SendCompletion

    package init(
        _ data: Data?, to target: GroupTarget, trafficClass: UInt8? = nil, completion: @escaping SendCompletion
    ) {
        self.data = data
        self.target = target
        self.trafficClass = trafficClass
        self.completion = completion
    }
}

/// The program's side of a group. Its methods are called on the group's queue, in order.
package protocol GroupObserver: AnyObject, Sendable {
    func groupChanged(to state: GroupDriver.State)
    func groupReceived(_ datagram: GroupDatagram)
    /// Nothing will be called any more.
    func groupReleased()
}
