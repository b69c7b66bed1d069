package import CausewaySystem
internal import CausewayTypes
package import FoundationEssentials

/// The configuration of a group: its addresses, the peers from which it accepts datagrams, and the settings of its sockets.
package struct GroupPlan: Sendable {
    /// Numeric multicast addresses with the same port. The scope of an IPv6 address may select an interface.
    package var groups: [SocketAddress]
    /// The only host from which datagrams are accepted; `nil` for any host.
    package var source: SocketAddress?
    /// Whether unicast datagrams to this host are dropped.
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

    /// The address families of the groups, each of which has its own socket.
    var families: [SocketAddress.Family] {
        [SocketAddress.Family.ipv4, .ipv6].filter { family in groups.contains { $0.family == family } }
    }
}

/// One datagram that a group received.
package struct GroupDatagram: Sendable {
    package var data: Data
    package var mark: PacketMark
    /// The sender.
    package var peer: SocketAddress
    /// The destination address: a group, or a unicast address of this host.
    package var destination: SocketAddress?
    /// The kernel's index of the receiving interface.
    package var interfaceIndex: Int
    /// The socket that received the datagram.
    package var socket: SharedDatagramSocket

    /// The target of a reply to this datagram, with the source address of the reply.
    package var answer: GroupTarget { .address(peer, source: answerSource) }

    /// The source address of a reply. It is `nil`, for the kernel's choice, if the datagram was sent to a group, because a multicast
    /// address is not a valid source.
    var answerSource: SocketAddress? { destination.flatMap { $0.isMulticast ? nil : $0 } }
}

/// The destination of a message.
package enum GroupTarget: Sendable {
    /// All groups, each on all interfaces where it is joined.
    case members
    /// One address: a group, or a single host. `source` is the address to send from.
    case address(SocketAddress, source: SocketAddress? = nil)
}

/// A message that a group sends.
package struct GroupOutbound: Sendable {
    /// The content; `nil` sends no datagram.
    package var data: Data?
    package var target: GroupTarget
    /// DSCP and ECN of the datagrams; `nil` if the values of the socket apply.
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

/// Receives the reports and datagrams of a group for the program. The methods are called in order on the group's queue.
package protocol GroupObserver: AnyObject, Sendable {
    func groupChanged(to state: GroupDriver.State)
    func groupReceived(_ datagram: GroupDatagram)
    /// This is the last call: no other method is called afterwards.
    func groupReleased()
}
