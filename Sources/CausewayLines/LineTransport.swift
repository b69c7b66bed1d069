public import Causeway
public import FoundationEssentials

/// Exchanges lines with one peer over any kind of transport; see ``LineFormat``.
///
/// One task may send while another receives. A send call returns when the next line can be queued, so a slow peer slows the sender down; a
/// receiver that does not read slows the peer down.
///
/// Calls in one direction must not overlap: before the next send call, wait until the previous one has ended, also if
/// its task was cancelled. Otherwise a line can be lost or sent twice.
///
/// ```swift
/// let transport = try await LineTransportKind.network.connect(to: "192.0.2.7", port: 9000)
/// try await transport.open()
/// try await transport.send("who is there?")
/// while let line = try await transport.nextText() { print(line) }
/// transport.close()
/// ```
///
/// Cancellation: a waiting call throws `.posix(.ECANCELED)`. The transport stays usable, and no received line is lost. A
/// line whose sending has begun is completed before the next line or the end; another line is not sent. Only
/// ``open()`` also closes the transport. To end a call of another task, use ``close()``.
public protocol LineTransport: Sendable {
    /// The peer's address and port, or its name, as text. A name chosen by the peer may contain any characters.
    var peer: String { get }
    /// Waits until the transport is connected. Call this method once, before the other methods.
    ///
    /// - Throws: `NWError` if the peer cannot be reached.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)` and closes the transport.
    func open() async throws
    /// Sends a line.
    ///
    /// - Parameter line: The line without its line end, at most ``LineFormat/limit`` bytes. It must not contain a line
    ///   feed.
    /// - Throws: `NWError`; ``LineProblem/tooLong`` if the line is too long. Such a line is not sent.
    ///
    /// Cancellation: see ``LineTransport``.
    func send(_ line: Data) async throws
    /// Ends the sending direction: no more lines follow. The peer's lines can still be received.
    ///
    /// Cancellation: see ``LineTransport``.
    func sendEnd() async throws
    /// Receives the peer's next line, without its line end; `nil` after the peer has ended its sending direction.
    ///
    /// - Throws: ``LineProblem`` after the valid lines; `NWError`.
    ///
    /// Cancellation: see ``LineTransport``.
    func next() async throws -> Data?
    /// Ends the connection. Calls that are waiting on this transport then return or throw. Lines that were sent before
    /// are still transmitted.
    func close()
}

extension LineTransport {
    /// Sends a line of text; see ``send(_:)-(Data)``.
    ///
    /// - Throws: `NWError`, or ``LineProblem/tooLong`` for a line that is too long.
    ///
    /// Cancellation: see ``LineTransport``.
    public func send(_ line: String) async throws { try await send(Data(line.utf8)) }

    /// Receives the next line as text, with invalid UTF-8 replaced; see ``next()``.
    ///
    /// - Throws: ``LineProblem`` after the valid lines; `NWError`.
    ///
    /// Cancellation: see ``LineTransport``.
    public func nextText() async throws -> String? {
        try await next().map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Throws the error of a cancelled task's call if the current task was cancelled.
func checkTaskCancellation() throws(NWError) {
    if Task.isCancelled { throw .posix(.ECANCELED) }
}

/// The networking API that a line transport uses. All kinds use the same format, so they can communicate with each
/// other and with other programs.
public enum LineTransportKind: String, CaseIterable, Sendable {
    /// `NWConnection` with ``LineFramer``.
    case network
    /// The system's sockets, without TLS.
    case sockets
    /// A pair of Foundation's streams.
    case streams

    /// Creates a transport to a host. Call ``LineTransport/open()`` on it.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: The peer's TCP port.
    ///   - parameters: Connection parameters. With ``sockets``, TLS is rejected, and all parameters except the IP
    ///     version are ignored.
    /// - Throws: `NWError`. With ``sockets``, all addresses of the host are tried. If none of them can be reached, the
    ///   error for the last address is thrown.
    ///
    /// Cancellation: with ``sockets``, throws `.posix(.ECANCELED)`. The other kinds do not wait.
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

    /// Waits for one connection and creates a transport over it. Call ``LineTransport/open()`` on it.
    ///
    /// - Parameters:
    ///   - host: The local address to listen on; `nil` for all addresses.
    ///   - port: The port to listen on; `.any` for a free port.
    ///   - parameters: Listener parameters. With ``sockets``, TLS is rejected, and all parameters except the IP version
    ///     are ignored.
    ///   - isListening: Called once with the port in use.
    /// - Throws: `NWError` if the port cannot be used.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)` and closes the listener.
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
    /// The host and port as text, such as `192.0.2.7:9000`, `[2001:db8::7]:9000` or `host.example:9000`.
    var peerText: String {
        switch self {
        case .hostPort(.ipv6(let address), let port): "[\(address.debugDescription)]:\(port.rawValue)"
        case .hostPort(let host, let port): "\(host.debugDescription):\(port.rawValue)"
        default: debugDescription
        }
    }
}
