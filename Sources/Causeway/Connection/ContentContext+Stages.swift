internal import CausewayProtocols

/// What the protocols of a stack are told of a message to send. Others than framers and WebSocket have nothing to be told here.
///
/// Who does not send the message after all calls ``abandon(_:_:)``, or the answer to a ping is awaited for ever.
func stageMetadata(of context: NWConnection.ContentContext) -> [any StageMetadata] {
    context.protocolMetadata.compactMap { metadata -> (any StageMetadata)? in
        switch metadata {
        case let message as NWProtocolFramer.Message: FramerMetadata(message: message)
        case let message as NWProtocolWebSocket.Metadata: message.makeStageMetadata()
        default: nil
        }
    }
}

/// The message with this metadata will not be sent, for a reason: tells it to whoever waits for the answer to a ping.
func abandon(_ metadata: [any StageMetadata], _ error: NWError) {
    for case let message as WebSocketMetadata in metadata {
        if let token = message.pingToken { PongWaiters.shared.finish(token, error) }
    }
}

extension NWConnection.ContentContext {
    /// The context of a received message.
    ///
    /// - Parameter isFinal: Whether nothing follows.
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
