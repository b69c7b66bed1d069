internal import Causeway
public import Foundation

extension MCSession {
    /// Makes the data with which one peer connects to this session. Send it to that peer by other means.
    ///
    /// Each peer makes data for the other and passes what it received to ``connectPeer(_:withNearbyConnectionData:)``.
    ///
    /// - Parameters:
    ///   - peerID: The peer that will use the data. Its object comes from an archive that the peer sent.
    ///   - completionHandler: Called once, on the queue of the session, with the data or an ``MCError``.
    public func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        core.connectionData(for: peerID.peer) { result in
            switch result {
            case .success(let data): completionHandler(data, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
    }

    /// Makes the data with which one peer connects to this session.
    ///
    /// Cancellation: the call returns when the data is made, which takes milliseconds.
    ///
    /// - Throws: ``MCError``.
    nonisolated(nonsending) public func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            core.connectionData(for: peerID.peer) { continuation.resume(with: $0) }
        }
    }

    /// Connects to a peer with the data that this peer made. The result is a state of the peer.
    public func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        core.connect(to: peerID.peer, with: data)
    }

    /// Ends an attempt of ``connectPeer(_:withNearbyConnectionData:)``. Without effect if the peer is connected.
    public func cancelConnectPeer(_ peerID: MCPeerID) { core.cancelConnect(to: peerID.peer) }
}
