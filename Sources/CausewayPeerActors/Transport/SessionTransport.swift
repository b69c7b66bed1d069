internal import Causeway
internal import CausewayPeerProtocols
internal import CausewayPeers
internal import Dispatch
internal import Foundation

/// Sends an actor system's frames as session messages, and takes frames out of the received messages. The program gets
/// all other messages.
struct SessionTransport: PeerActorTransport {
    let session: PeerSession

    var me: PeerIdentity { session.me }
    var members: [PeerIdentity] { session.peers }

    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void) {
        session.setTap { event in
            switch event {
            case .joined(let peer): handler(.joined(peer))
            case .left(let peer, let failure): handler(.left(peer, reason: failure.message))
            case .message(let message, let peer):
                guard ActorFrame.owns(message) else { return false }
                handler(.frame([UInt8](message), from: peer))
                return true
            }
            return false
        }
    }

    func detach() { session.setTap(nil) }

    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws {
        try await session.send(Data(frame), to: .peer(peer))
    }
}

/// The system's monotonic clock.
struct DispatchClock: PeerActorClock {
    private let queue = DispatchQueue(label: "causeway.peers.actors")

    var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

    func wake(at time: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.call(after: max(time - now, .zero), body)
    }
}
