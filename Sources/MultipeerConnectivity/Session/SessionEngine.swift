internal import CausewayPeers
internal import Dispatch
internal import Foundation

/// The engine interface that a session uses. Tests replace it.
protocol SessionEngine: Sendable {
    func accept(_ invitation: PeerInvitation)
    func invite(_ peer: PeerIdentity, service: String, context: Data?, timeout: Duration)
    func send(_ message: Data, to peers: [PeerIdentity], _ mode: PeerGroup.Mode) throws(PeerFailure)
    func sendFile(
        at url: URL, name: String, to peer: PeerIdentity, completion: @escaping @Sendable (PeerFailure?) -> Void
    ) -> Progress
    func openStream(_ name: String, to peer: PeerIdentity) throws(PeerFailure) -> PeerOutputStream
    func connectionData(for peer: UInt64, completion: @escaping @Sendable (Result<Data, PeerFailure>) -> Void)
    func connect(to peer: UInt64, with data: Data)
    func cancelConnect(to peer: UInt64)
    func leave()
}

extension PeerGroup: SessionEngine {
    func accept(_ invitation: PeerInvitation) { invitation.accept(with: self) }

    func sendFile(
        at url: URL, name: String, to peer: PeerIdentity, completion: @escaping @Sendable (PeerFailure?) -> Void
    ) -> Progress {
        sendFile(at: url, name: name, to: peer, progressed: { _, _ in }, completion: completion)
    }
}

/// Creates a session's engine when the session is first used. The engine delivers its events by calling `handler` on
/// `queue`.
typealias SessionEngineMaker =
    @Sendable (
        _ peer: PeerIdentity, _ queue: DispatchQueue, _ handler: @escaping @Sendable (GroupEvent) -> Void
    ) throws(PeerFailure) -> any SessionEngine
