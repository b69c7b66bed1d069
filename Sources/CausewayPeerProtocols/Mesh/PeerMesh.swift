internal import CausewayTypes
internal import DequeModule

/// All sessions of one local peer: links, invitations, members, and their messages, streams and resources. Does no I/O.
///
/// The driver reports network events and program calls, each with the time since any fixed instant. After every call,
/// it performs the actions from ``nextAction()`` in order, and sets one timer for ``deadline``. The driver must make
/// all calls one after the other.
package struct PeerMesh: ~Copyable, Sendable {
    /// The local peer.
    package let own: PeerInfo
    var configuration: PeerConfiguration
    var random: any RandomNumberGenerator & Sendable
    var links: [LinkID: Boxed<Link>] = [:]
    var sessions: [SessionID: Session] = [:]
    var invitations = InvitationMachine()
    /// The recorded keys by peer ID, and the policy for them.
    var pins = PeerPins()
    var pairings = PairingTable()
    var actions: Deque<PeerAction> = []
    var datagramLanes = DatagramLaneTable()
    var lastLink = 0
    var lastSession = 0

    /// - Parameters:
    ///   - own: The local peer with its public key.
    ///   - configuration: Limits and properties.
    ///   - random: The generator for handles, tokens and nonces. The default is the system's generator.
    package init(
        own: PeerInfo, configuration: PeerConfiguration = PeerConfiguration(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.own, self.configuration, self.random) = (own, configuration, random)
    }

    /// Removes and returns the next action; `nil` if there is none until the next event.
    package mutating func nextAction() -> PeerAction? { actions.popFirst() }

    /// Reports the listener port and up to 4 own addresses, once they are known and when they change.
    package mutating func listens(on port: UInt16, addresses: [[UInt8]] = []) {
        configuration.port = port
        configuration.addresses = Array(addresses.filter { $0.count == 4 || $0.count == 16 }.prefix(4))
    }
}

extension PeerMesh: QueueingMachine {
    package typealias Action = PeerAction

    package var hasEnded: Bool { false }

    package mutating func takeActions() -> [PeerAction] {
        defer { actions = [] }
        return Array(actions)
    }
}
