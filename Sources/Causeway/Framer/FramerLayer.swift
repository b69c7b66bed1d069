internal import CausewayProtocols
internal import CausewayRuntime

/// The connection properties that message framers can read. Also creates the protocol layers above a framer.
struct FramerContext: Sendable {
    var local: NWEndpoint?
    var remote: NWEndpoint
    var parameters: NWParameters
    /// Whether a listener accepted the connection.
    var isServer = false
    /// Creates layers for protocols other than framers and WebSocket.
    var makeLayer: @Sendable (NWProtocolOptions) throws(NWError) -> StackLayer

    /// Creates the layer for a protocol above a framer.
    func layer(for options: NWProtocolOptions) throws(NWError) -> StackLayer {
        switch options {
        case let framer as NWProtocolFramer.Options: makeFramerLayer(framer, in: self)
        case let webSocket as NWProtocolWebSocket.Options:
            try makeWebSocketLayer(webSocket, isServer: isServer, endpoint: remote)
        default: try makeLayer(options)
        }
    }
}

/// Creates the layer for a program's framer, for one connection attempt.
///
/// - Parameters:
///   - options: The options from the connection's parameters. The framer reads them through its instance.
///   - isServer: Whether a listener accepted the connection. Protocols that are added above the framer use this value
///     too.
///   - makeLayer: Creates layers above the framer, except framers and WebSocket.
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
