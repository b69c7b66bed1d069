internal import CausewayPeerProtocols
internal import Foundation
internal import Network

/// Work that a transition of the node requests. It is performed in the order of the transitions, without the lock.
///
/// An action holds the objects that it needs, also those that the transition removed from the state: so none of them is
/// released under the lock.
enum NodeAction: Sendable {
    // Links
    /// Begin the handshake of an accepted connection.
    case accept(PeerLink)
    case write(PeerLink, [UInt8])
    /// Request the next block.
    case read(PeerLink)
    /// End the link after the written bytes.
    case end(PeerLink)
    case cancel(PeerLink)

    // Dials
    /// Look up the candidates, and begin a round over them.
    case beginRound(LinkID)
    /// Begin another round later.
    case pause(LinkID, Duration)
    case dial(LinkID, PeerRace.Start)
    case dialFailed(LinkID)
    /// Check after this time whether another dial may start.
    case checkDials(Duration)

    // Groups and invitations
    /// Deliver an event of the machine.
    case deliver(PeerAction, GroupPort)
    /// Let sends that waited try again.
    case resume([SendWaits.Waiter])
    case invited(PeerAdvertisement.Port, InvitationID, PeerIdentity, Data?)
    case invitationEnded([PeerAdvertisement.Port], InvitationID)
    /// Remove a recorded key.
    case unpin(UInt64)

    // Datagram lanes
    case listenDatagrams(DatagramPort, DatagramSecret)
    case dialDatagrams(DatagramPort, NWEndpoint, DatagramSecret)
    case datagram(DatagramPort, [UInt8])
    case closeDatagrams(DatagramPort)

    // The node
    /// Open the listener.
    case listen
    /// Call the machine at this time.
    case arm(Duration)
    /// Check the service instances of an unreachable peer.
    case reconfirm([NWEndpoint])
    /// Continue the searches for lost peers later.
    case search
    /// Any other work of a call of the program.
    case run(@Sendable () -> Void)
}
