internal import Causeway
public import Foundation

extension MCSession {
    /// Creates data that lets a peer connect to this session. Send it to that peer over any other channel.
    ///
    /// Each peer creates data for the other, and passes the received data to
    /// ``connectPeer(_:withNearbyConnectionData:)``. The data is valid until the local peer leaves the session. Only
    /// the data for the latest 128 peers is valid.
    ///
    /// - Parameters:
    ///   - peerID: The peer that will use the data, decoded from an archive that it sent.
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
