public import Causeway
internal import CausewaySystem
internal import Dispatch
public import FoundationEssentials

/// Sends and receives lines of text over an `NWConnection` with ``LineFramer``.
public struct NetworkLineTransport: LineTransport {
    /// The connection, for access to its state, path and reports.
    public let connection: NWConnection

    /// Creates a transport to a stream endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to connect to.
    ///   - parameters: Connection parameters. They are copied, and ``LineFramer`` is added.
    public init(to endpoint: NWEndpoint, using parameters: NWParameters = .tcp) {
        connection = NWConnection(to: endpoint, using: Self.parameters(parameters))
    }

    /// Creates a transport over a connection that is not started yet, such as one from a listener. The connection's
    /// parameters must have ``LineFramer`` on top, see ``parameters(_:)``.
    public init(over connection: NWConnection) { self.connection = connection }

    /// Returns a copy of the parameters with ``LineFramer`` on top.
    public static func parameters(_ parameters: NWParameters) -> NWParameters {
        let parameters = parameters.copy()
        parameters.defaultProtocolStack.applicationProtocols.insert(LineFramer.options, at: 0)
        return parameters
    }

    /// The address and port, or the name, of the connection's endpoint.
    public var peer: String { connection.endpoint.peerText }

    /// Starts the connection and waits until it is ready.
    ///
    /// - Throws: `NWError` if the peer cannot be reached.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)` and closes the transport.
    public func open() async throws { try await connection.open() }

    /// Sends a line.
    ///
    /// - Throws: `NWError`; ``LineProblem/tooLong`` for a line that is too long, which is not sent.
    ///
    /// Cancellation: see ``LineTransport``.
    public func send(_ line: Data) async throws {
        guard line.count <= LineFormat.limit else { throw LineProblem.tooLong }
        try await connection.send(line)
    }

    /// Ends the connection's sending direction.
    ///
    /// - Throws: `NWError`.
    ///
    /// Cancellation: see ``LineTransport``.
    public func sendEnd() async throws { try await connection.sendEnd() }

    /// Receives the next line without its line end; `nil` after the peer has ended its sending direction.
    ///
    /// - Throws: ``LineProblem`` after the valid lines; `NWError`.
    ///
    /// Cancellation: see ``LineTransport``.
    public func next() async throws -> Data? {
        let (content, context, error) = await connection.nextMessage()
        if let problem = LineFramer.problem(of: context) { throw problem }
        if let content { return content }
        if context?.isFinal == true { return nil }
        if let error { throw error }
        return Data()
    }

    /// Cancels the connection.
    public func close() { connection.cancel() }
}

extension LineTransportKind {
    /// Listens on a port and waits for one connection.
    static func acceptConnection(
        at host: String?, _ port: NWEndpoint.Port, _ parameters: NWParameters,
        _ isListening: @escaping @Sendable (NWEndpoint.Port) -> Void
    ) async throws -> NWConnection {
        let parameters = parameters.copy()
        if let host { parameters.requiredLocalEndpoint = .hostPort(host: NWEndpoint.Host(host), port: port) }
        let listener = try host == nil ? NWListener(using: parameters, on: port) : NWListener(using: parameters)
        listener.newConnectionLimit = 1
        let (connections, feed) = AsyncThrowingStream<NWConnection, any Error>.makeStream()
        listener.newConnectionHandler = { feed.yield($0) }
        listener.stateUpdateHandler = { [weak listener] state in
            switch state {
            case .ready: isListening(listener?.port ?? .any)
            case .waiting(let error), .failed(let error): feed.finish(throwing: error)
            case .cancelled: feed.finish()
            case .setup: break
            }
        }
        defer { listener.cancel() }
        listener.start(queue: DispatchQueue(label: "causeway.lines", target: .global()))
        for try await connection in connections { return connection }
        throw NWError.posix(.ECANCELED)
    }
}

extension NWParameters {
    /// The requested IP version.
    var requestedFamily: SocketAddress.Family? {
        guard let ip = defaultProtocolStack.internetProtocol as? NWProtocolIP.Options else { return nil }
        return switch ip.version {
        case .any: nil
        case .v4: .ipv4
        case .v6: .ipv6
        }
    }
}
