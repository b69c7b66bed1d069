public import Causeway
public import FoundationEssentials

/// Carries lines to one peer and back, over any kind of transport; see ``LineFormat``.
///
/// One task sends and one receives, at the same time. Each call returns when there is room for the next: a slow peer holds back the
/// sender, and a receiver that does not ask holds back the peer.
///
/// ```swift
/// let transport = try await LineTransportKind.network.connect(to: "192.0.2.7", port: 9000)
/// try await transport.open()
/// try await transport.send("who is there?")
/// while let line = try await transport.nextText() { print(line) }
/// transport.close()
/// ```
///
/// Cancellation: cancelling a task does not end a call that waits. ``close()`` does, from any task:
/// `withTaskCancellationHandler { try await transport.next() } onCancel: { transport.close() }`.
public protocol LineTransport: Sendable {
    /// The peer's address and port, or its name, as text. Where a peer chose it, it may hold any characters.
    var peer: String { get }
    /// Waits until lines can be carried. Call it once, before the other methods.
    ///
    /// - Throws: `NWError` when the peer cannot be reached.
    func open() async throws
    /// Sends a line.
    ///
    /// - Parameter line: At most ``LineFormat/limit`` bytes without a line feed, and without the line's end.
    /// - Throws: `NWError`, and ``LineProblem/tooLong`` for a line that is too long, which is not sent.
    func send(_ line: Data) async throws
    /// Tells the peer that no more lines follow. The peer's lines can still be received.
    func sendEnd() async throws
    /// Receives the peer's next line, without its end; `nil` when the peer has ended.
    ///
    /// - Throws: ``LineProblem`` behind the lines before it; `NWError`.
    func next() async throws -> Data?
    /// Ends the conversation, and makes the other calls return. What was sent before still leaves.
    func close()
}

extension LineTransport {
    /// Sends a line of text; see ``send(_:)-(Data)``.
    public func send(_ line: String) async throws { try await send(Data(line.utf8)) }

    /// Receives the next line as text, with what is not UTF-8 replaced; see ``next()``.
    public func nextText() async throws -> String? {
        try await next().map { String(decoding: $0, as: UTF8.self) }
    }
}

/// What carries lines. All kinds speak the same, with each other and with other programs.
public enum LineTransportKind: String, CaseIterable, Sendable {
    /// `NWConnection` with ``LineFramer``.
    case network
    /// The system's sockets, without TLS.
    case sockets
    /// A pair of Foundation's streams.
    case streams

    /// Makes a transport to a host. Call ``LineTransport/open()`` on it.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: The peer's TCP port.
    ///   - parameters: Of the connection. ``sockets`` heeds the version of IP alone, and refuses TLS.
    /// - Throws: `NWError`: for ``sockets`` why none of the host's addresses answers.
    ///
    /// Cancellation: a cancelled task stops the look-up of ``sockets``.
    public func connect(
        to host: String, port: NWEndpoint.Port, using parameters: NWParameters = .tcp
    ) async throws -> any LineTransport {
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        switch self {
        case .network: return NetworkLineTransport(to: endpoint, using: parameters)
        case .streams: return StreamsLineTransport(to: endpoint, using: parameters)
        case .sockets:
            try SocketLineTransport.check(parameters)
            return try await SocketLineTransport.connecting(
                to: host, port: port.rawValue, family: parameters.requestedFamily)
        }
    }

    /// Waits for one connection and makes a transport over it. Call ``LineTransport/open()`` on it.
    ///
    /// - Parameters:
    ///   - host: An address of this host to listen on; `nil` for all.
    ///   - port: The port to listen on; `.any` for any that is free.
    ///   - parameters: Of the listener. ``sockets`` heeds the version of IP alone, and refuses TLS.
    ///   - isListening: Called once with the port in use.
    /// - Throws: `NWError` when the port cannot be used.
    ///
    /// Cancellation: ends the wait with an error, and closes the listener.
    public func accept(
        at host: String? = nil, port: NWEndpoint.Port, using parameters: NWParameters = .tcp,
        isListening: @escaping @Sendable (NWEndpoint.Port) -> Void = { _ in }
    ) async throws -> any LineTransport {
        switch self {
        case .network:
            let connection = try await Self.acceptConnection(
                at: host, port, NetworkLineTransport.parameters(parameters), isListening)
            return NetworkLineTransport(over: connection)
        case .streams:
            return StreamsLineTransport(over: try await Self.acceptConnection(at: host, port, parameters, isListening))
        case .sockets:
            try SocketLineTransport.check(parameters)
            return try await SocketLineTransport.accepting(
                at: host, port: port.rawValue, family: parameters.requestedFamily, isListening)
        }
    }
}

extension NWEndpoint {
    /// `192.0.2.7:9000`, `[2001:db8::7]:9000`, `host.example:9000`.
    var peerText: String {
        switch self {
        case .hostPort(.ipv6(let address), let port): "[\(address.debugDescription)]:\(port.rawValue)"
        case .hostPort(let host, let port): "\(host.debugDescription):\(port.rawValue)"
        default: debugDescription
        }
    }
}
