internal import CausewayMachines
internal import DequeModule

/// All sessions of one local peer: links, invitations, members, their messages, streams and resources. Without I/O.
///
/// The driver reports facts and calls of the program, each with the time since any fixed instant. After every call it performs the actions
/// that ``nextAction()`` returns, in order, and sets one timer for ``deadline``. Confined to one queue of the driver.
package struct PeerMesh: ~Copyable, Sendable {
    /// The local peer.
    package let own: PeerInfo
    var configuration: PeerConfiguration
    var random: any RandomNumberGenerator & Sendable
    var links: [LinkID: Boxed<Link>] = [:]
    var sessions: [SessionID: Session] = [:]
    var invitations = InvitationMachine()
    /// Keys that are known for a peer id, and which peers are accepted.
    var pins = PeerPins()
    var pairings = PairingTable()
    var actions: Deque<PeerAction> = []
    var datagramLanes = DatagramLaneTable()
    var lastLink = 0
    var lastSession = 0

    /// - Parameters:
    ///   - own: The local peer with its public key.
    ///   - random: Makes handles, tokens and nonces: in programs the system's generator.
    package init(
        own: PeerInfo, configuration: PeerConfiguration = PeerConfiguration(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.own, self.configuration, self.random) = (own, configuration, random)
    }

    /// The next action, or `nil` if there is none until the next event.
    package mutating func nextAction() -> PeerAction? { actions.popFirst() }

    /// The port of the listener and up to 4 own addresses, as soon as they are known and when they change.
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
