internal import CausewayProtocols
internal import CausewayRuntime

/// What a framer may ask of its connection.
struct FramerContext: Sendable {
    var local: NWEndpoint?
    var remote: NWEndpoint
    var parameters: NWParameters
    /// Whether the connection was accepted by a listener.
    var isServer = false
    /// Makes layers of protocols other than framers and WebSocket.
    var makeLayer: @Sendable (NWProtocolOptions) throws(NWError) -> StackLayer

    /// The layer of any protocol that may stand above a framer.
    func layer(for options: NWProtocolOptions) throws(NWError) -> StackLayer {
        switch options {
        case let framer as NWProtocolFramer.Options: makeFramerLayer(framer, in: self)
        case let webSocket as NWProtocolWebSocket.Options:
            try makeWebSocketLayer(webSocket, isServer: isServer, endpoint: remote)
        default: try makeLayer(options)
        }
    }
}

/// Makes the layer of a program's framer, for one attempt to establish a connection.
///
/// - Parameters:
///   - options: As in the connection's parameters; the framer finds them at its instance.
///   - isServer: Whether the connection was accepted; counts for what the framer puts above itself.
///   - makeLayer: Makes what the framer puts above itself, if that is neither a framer nor WebSocket.
func makeFramerLayer(
    _ options: NWProtocolFramer.Options, local: NWEndpoint?, remote: NWEndpoint, parameters: NWParameters,
    isServer: Bool,
    makeLayer: @escaping @Sendable (NWProtocolOptions) throws(NWError) -> StackLayer
) -> StackLayer {
    let context = FramerContext(
        local: local, remote: remote, parameters: parameters, isServer: isServer, makeLayer: makeLayer)
    return makeFramerLayer(options, in: context)
}

func makeFramerLayer(_ options: NWProtocolFramer.Options, in context: FramerContext) -> StackLayer {
    StackLayer(FramerStage(), FramerDelegate(options, in: context))
}
