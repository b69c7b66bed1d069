internal import CausewayProtocols
package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension NWParameters {
    /// Creates the factory for the protocols above the transport. Returns `nil` if there are no such protocols.
    ///
    /// The factory runs for each connection attempt.
    ///
    /// - Parameter endpoint: The endpoint of a client connection; `nil` for accepted connections.
    /// - Throws: `.posix(.ENOTSUP)` for unimplemented protocols, and the errors of ``TLSConfiguration``. A protocol
    ///   that cannot be used is always an error; it is never left out of the stack.
    package func makeLayerMaker(to endpoint: NWEndpoint?) throws(NWError) -> LayerMaker? {
        try makeLayerMaker(to: endpoint, above: [])
    }

    /// Creates a factory for protocol layers, like ``makeLayerMaker(to:)``. This factory also inserts the proxy
    /// handshakes and other proxy steps between the transport and the application protocols.
    func makeLayerMaker(to endpoint: NWEndpoint?, above passage: [ProxyStep]) throws(NWError) -> LayerMaker? {
        let protocols = defaultProtocolStack.applicationProtocols
        guard !protocols.isEmpty || !passage.isEmpty else { return nil }
        let isDatagram = defaultProtocolStack.transportProtocol is NWProtocolUDP.Options
        // Build the layers from the bottom up. `protocols` is in the opposite order: its first element is nearest to
        // the program.
        var recipes = passage.map { Recipe.passage($0) }
        var carrier = isDatagram ? TLVStage.Carrier.datagrams : .stream
        for options in protocols.reversed() {
            // Leave out the coder protocol. Its length field is not needed, because a datagram carries exactly one
            // value.
            if options is CoderOptions, isDatagram { continue }
            let recipe = try Recipe(
                options, isServer: endpoint == nil, isDatagram: isDatagram, allowsEarlyData: values.allowFastOpen,
                over: carrier)
            if case .stream = carrier, recipe.makesMessages { carrier = .messages }
            recipes.append(recipe)
        }
        guard !recipes.isEmpty else { return nil }
        let parameters = self
        let asksForAddresses = recipes.contains(where: \.asksForAddresses)
        return { [recipes] flow in
            let context = StackContext(
                asksForAddresses ? flow.addresses : nil, endpoint: endpoint, parameters, isDatagram: isDatagram)
            return Result { () throws(NWError) in
                var layers: [StackLayer] = []
                for recipe in recipes { layers.append(try recipe.makeLayer(in: context)) }
                return layers
            }.mapError { Failure($0) }
        }
    }
}

extension NWParameters {
    /// Creates the settings for all connections accepted by one listener.
    package func makeListenerSettings() throws(NWError) -> FrozenSettings {
        FrozenSettings(
            try makeSocketSettings(), makeLayers: try makeLayerMaker(to: nil),
            openings: clientSendsFirst ? UnfinishedOpenings() : nil)
    }

    /// Whether the lowest handshake above the transport begins with a message from the client. `false` for the
    /// program's framers, because it is unknown which side sends first.
    private var clientSendsFirst: Bool {
        let lowest = defaultProtocolStack.applicationProtocols.last
        return lowest is NWProtocolTLS.Options || lowest is NWProtocolWebSocket.Options
    }
}

/// One protocol in a stack, with settings that are computed once. All attempts of a client connection share these
/// settings, and so do all connections of a listener.
private enum Recipe: Sendable {
    case security(TLSConfiguration)
    case webSocket(NWProtocolWebSocket.Options)
    case framer(NWProtocolFramer.Options)
    case typeLength(TLVHeader, over: TLVStage.Carrier)
    case values(over: TLVStage.Carrier)
    case passage(ProxyStep)

    /// Creates the settings of one protocol in a stack. All attempts of a client connection share them, and so do all
    /// connections of a listener.
    ///
    /// - Parameter carrier: What the protocol below transports: a stream, messages or datagrams.
    init(
        _ options: NWProtocolOptions, isServer: Bool, isDatagram: Bool, allowsEarlyData: Bool = false,
        over carrier: TLVStage.Carrier = .stream
    ) throws(NWError) {
        switch options {
        case let options as NWProtocolTLS.Options:
            self = .security(
                try TLSConfiguration(
                    options, isServer: isServer, isDatagram: isDatagram, allowsEarlyData: allowsEarlyData))
        case let options as NWProtocolWebSocket.Options where !isDatagram: self = .webSocket(options)
        case let options as NWProtocolFramer.Options: self = .framer(options)
        case let options as TLVOptions: self = .typeLength(options.header, over: carrier)
        case is CoderOptions: self = .values(over: carrier)
        default: throw .posix(.ENOTSUP)
        }
    }

    /// Whether the protocol forms messages from a byte stream.
    var makesMessages: Bool {
        switch self {
        case .security, .passage: false
        case .webSocket, .framer, .typeLength, .values: true
        }
    }

    /// Whether the protocol needs the local and the remote address. Reading both addresses takes two system calls.
    ///
    /// TLS does not need them. A TLS client uses only the endpoint, and a TLS server uses no address.
    var asksForAddresses: Bool {
        switch self {
        case .framer, .webSocket: true
        case .security, .typeLength, .values, .passage: false
        }
    }

    func makeLayer(in context: StackContext) throws(NWError) -> StackLayer {
        switch self {
        case .security(let configuration):
            try configuration.makeLayer(host: context.host, port: context.port)
        case .webSocket(let options):
            try makeWebSocketLayer(
                options, isServer: context.isServer, endpoint: context.remote,
                isSecure: context.isSecure)
        case .framer(let options): makeFramerLayer(options, in: context.framer)
        case .passage(let passage): try passage.makeLayer()
        case .typeLength(let header, let carrier): StackLayer(TLVStage(header, over: carrier))
        case .values(let carrier):
            // A value is decoded only after it has arrived completely, so limit its size.
            StackLayer(
                TLVStage(
                    TLVHeader(typeWidth: 0, lengthWidth: 4), over: carrier, limit: TLVStage.messageLimit))
        }
    }
}

/// The properties of a connection that its protocols receive when a connection attempt creates them.
private struct StackContext: Sendable {
    let remote: NWEndpoint
    let local: NWEndpoint?
    let parameters: NWParameters
    let isServer: Bool
    let isDatagram: Bool

    init(
        _ addresses: (local: SocketAddress?, remote: SocketAddress?)?, endpoint: NWEndpoint?,
        _ parameters: NWParameters, isDatagram: Bool
    ) {
        remote = endpoint ?? addresses?.remote.map { NWEndpoint($0.unmapped) } ?? .unix(path: "")
        local = addresses?.local.map { NWEndpoint($0.unmapped) }
        self.parameters = parameters
        isServer = endpoint == nil
        self.isDatagram = isDatagram
    }

    /// The host that a TLS client authenticates.
    var host: NWEndpoint.Host? {
        switch remote {
        case .hostPort(let host, _): host
        case .url(let url): url.host(percentEncoded: false).map { NWEndpoint.Host($0) }
        case .service, .unix, .opaque: nil
        }
    }

    var port: UInt16 {
        switch remote {
        case .hostPort(_, let port): port.rawValue
        case .url(let url): NWEndpoint.port(of: url) ?? 0
        case .service, .unix, .opaque: 0
        }
    }

    var isSecure: Bool {
        parameters.defaultProtocolStack.applicationProtocols.contains { $0 is NWProtocolTLS.Options }
    }

    var framer: FramerContext {
        let context = self
        return FramerContext(local: local, remote: remote, parameters: parameters, isServer: isServer) {
            options throws(NWError) in
            let recipe = try Recipe(options, isServer: context.isServer, isDatagram: context.isDatagram)
            return try recipe.makeLayer(in: context)
        }
    }
}
