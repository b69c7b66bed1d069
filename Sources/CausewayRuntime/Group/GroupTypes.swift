package import CausewaySystem
internal import CausewayTypes
package import FoundationEssentials

/// The configuration of a multicast group: its addresses, the permitted senders, and the socket settings.
package struct GroupPlan: Sendable {
    /// Numeric multicast addresses with the same port. An IPv6 address's scope may select an interface.
    package var groups: [SocketAddress]
    /// The only host from which datagrams are accepted; `nil` for any host.
    package var source: SocketAddress?
    /// Whether to drop unicast datagrams that are sent to this host.
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

    /// The address families of the groups. The driver opens one socket per family.
    var families: [SocketAddress.Family] {
        [SocketAddress.Family.ipv4, .ipv6].filter { family in groups.contains { $0.family == family } }
    }
}

/// A datagram received by a group.
package struct GroupDatagram: Sendable {
    package var data: Data
    package var mark: PacketMark
    /// The sender.
    package var peer: SocketAddress
    /// The destination address: a group, or one of this host's unicast addresses.
    package var destination: SocketAddress?
    /// The receiving interface's kernel index.
    package var interfaceIndex: Int
    /// The receiving socket.
    package var socket: SharedDatagramSocket

    /// The target for a reply to this datagram. The target contains the source address of the reply.
    package var answer: GroupTarget { .address(peer, source: answerSource) }

    /// The source address for a reply; `nil` if the kernel chooses it.
    ///
    /// The kernel must choose if the datagram was sent to a group, because a multicast address is not a valid source.
    var answerSource: SocketAddress? { destination.flatMap { $0.isMulticast ? nil : $0 } }
}

/// Where a message is sent.
package enum GroupTarget: Sendable {
    /// All multicast groups, each on all interfaces where that group is joined.
    case members
    /// One address: a group, or a single host. `source` is the address to send from.
    case address(SocketAddress, source: SocketAddress? = nil)
}

/// A message that the program sends through a group.
package struct GroupOutbound: Sendable {
    /// The content; `nil` sends no datagram.
    package var data: Data?
    package var target: GroupTarget
    /// The datagrams' DSCP and ECN; `nil` for the socket's default.
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

/// Receives a group's reports and datagrams for the program. The methods are called in order on the group's queue.
package protocol GroupObserver: AnyObject, Sendable {
    func groupChanged(to state: GroupDriver.State)
    func groupReceived(_ datagram: GroupDatagram)
    /// The final call. No other method is called afterwards.
    func groupReleased()
}
