internal import Causeway
public import Foundation

extension MCSession {
    /// Creates data with which a peer can connect to this session. Send the data to that peer over any other channel.
    ///
    /// Two peers that want to connect create data for each other. Each passes the data that it receives to
    /// ``connectPeer(_:withNearbyConnectionData:)``.
    ///
    /// The data is valid until the local peer leaves the session. Only the data for the latest 128 peers is valid.
    ///
    /// - Parameters:
    ///   - peerID: The peer that will use the data. Decode it from an archive that this peer has sent.
    ///   - completionHandler: Called once, on the session's queue, with the data or an ``MCError``.
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

    /// Creates data that lets a peer connect to this session.
    ///
    /// Cancellation: has no effect; the call returns within milliseconds.
    ///
    /// - Throws: ``MCError``.
    nonisolated(nonsending) public func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            core.connectionData(for: peerID.peer) { continuation.resume(with: $0) }
        }
    }

    /// Connects to a peer with data created by that peer. The delegate receives the result as a state change.
    public func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        core.connect(to: peerID.peer, with: data)
    }

    /// Cancels a connection attempt started with ``connectPeer(_:withNearbyConnectionData:)``. Has no effect if the
    /// peer is connected.
    public func cancelConnectPeer(_ peerID: MCPeerID) { core.cancelConnect(to: peerID.peer) }
}
