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
    /// End the link as soon as all bytes that are already written to it have been sent.
    case end(PeerLink)
    case cancel(PeerLink)

    // Dials
    /// Look up the candidate endpoints, and begin to try all of them.
    case beginRound(LinkID)
    /// Wait for the given time, and then try all candidate endpoints again.
    case pause(LinkID, Duration)
    case dial(LinkID, PeerRace.Start)
    case dialFailed(LinkID)
    /// Check after this delay whether a waiting dial may start.
    case checkDials(Duration)

    // Groups and invitations
    /// Deliver an event from `PeerMesh`.
    case deliver(PeerAction, GroupPort)
    /// Resume the tasks with waiting sends. These tasks then try to send again.
    case resume([SendWaits.Waiter])
    case invited(PeerAdvertisement.Port, InvitationID, PeerIdentity, Data?)
    case invitationEnded([PeerAdvertisement.Port], InvitationID)
    /// Remove a peer's recorded key.
    case unpin(UInt64)

    // Actions for datagram connections (DTLS)
    case listenDatagrams(DatagramPort, DatagramSecret)
    case dialDatagrams(DatagramPort, NWEndpoint, DatagramSecret)
    case datagram(DatagramPort, [UInt8])
    case closeDatagrams(DatagramPort)

    // The node
    /// Open the listener.
    case listen
    /// Set a timer. At its time, `PeerMesh` can act again.
    case arm(Duration)
    /// Check the Bonjour service instances of an unreachable peer again.
    case reconfirm([NWEndpoint])
    /// Continue the searches for lost peers later.
    case search
    /// Run this closure. It contains other work that a call from the program has requested.
    case run(@Sendable () -> Void)
}
