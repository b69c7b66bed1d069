internal import Causeway
internal import CausewayPeerProtocols
internal import Foundation

/// Work that a change of the node's state requests. It is performed in the order of the changes, without the lock.
///
/// An action holds the objects that it needs. These include objects that the change removed from the state, so that no
/// object is released under the lock.
enum NodeAction: Sendable {
    // Links
    /// Begin the handshake of an accepted connection.
    case accept(PeerLink)
    case write(PeerLink, [UInt8])
    /// Request the link's next block of bytes.
    case read(PeerLink)
    /// Send the bytes that are already written to the link, then end the link.
    case end(PeerLink)
    case cancel(PeerLink)

    // Dials
    /// Look up the candidate endpoints, and begin to try all of them.
    case beginRound(LinkID)
    /// Try all candidate endpoints again later.
    case pause(LinkID, Duration)
    case dial(LinkID, PeerRace.Start)
    case dialFailed(LinkID)
    /// Check after this delay whether a waiting dial may start.
    case checkDials(Duration)

    // Groups and invitations
    /// Deliver an event from `PeerMesh`.
    case deliver(PeerAction, GroupPort)
    /// Resume the tasks whose sends waited, so that they try again.
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
    /// Set a timer that calls `PeerMesh` at this time.
    case arm(Duration)
    /// Check the service instances of an unreachable peer.
    case reconfirm([NWEndpoint])
    /// Continue the searches for lost peers later.
    case search
    /// Any other work that a program's call requests.
    case run(@Sendable () -> Void)
}
