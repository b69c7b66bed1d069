internal import CausewayProtocols

/// Returns the per-protocol metadata for a message to send. Only framers and WebSocket have such metadata.
///
/// If the message is not sent, the caller must call ``abandon(_:_:)``. The message may be a WebSocket ping, and its
/// pong handler would otherwise never be called.
func stageMetadata(of context: NWConnection.ContentContext) -> [any StageMetadata] {
    context.protocolMetadata.compactMap { metadata -> (any StageMetadata)? in
        switch metadata {
        case let message as NWProtocolFramer.Message: FramerMetadata(message: message)
        case let message as NWProtocolWebSocket.Metadata: message.makeStageMetadata()
        default: nil
        }
    }
}

/// Calls the pong handlers for the WebSocket pings in `metadata` with an error, because these pings will not be sent.
func abandon(_ metadata: [any StageMetadata], _ error: NWError) {
    for case let message as WebSocketMetadata in metadata {
        if let token = message.pingToken { PongWaiters.shared.finish(token, error) }
    }
}

extension NWConnection.ContentContext {
    /// Creates the content context for a received message.
    ///
    /// - Parameter isFinal: Whether no message follows in this direction.
    static func context(of metadata: [any StageMetadata], isFinal: Bool) -> NWConnection.ContentContext {
        let objects = metadata.compactMap { metadata -> NWProtocolMetadata? in
            switch metadata {
            case let metadata as FramerMetadata: metadata.message
            case let metadata as WebSocketMetadata: NWProtocolWebSocket.Metadata(metadata)
            default: nil
            }
        }
        guard !objects.isEmpty else { return isFinal ? inboundStreamEnd : inboundStream }
        return NWConnection.ContentContext(received: objects, isFinal: isFinal)
    }
}
