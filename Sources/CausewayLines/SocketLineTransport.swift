internal import Causeway
internal import CausewayRuntime
internal import CausewaySystem
public import FoundationEssentials

/// Lines over plain sockets: non-blocking calls, with Dispatch sources that report when a socket is ready.
public final class SocketLineTransport: LineTransport {
    /// The address and port, or the name, of the peer.
    public let peer: String
    private let socket: ReadySocket
    private let decoder = LockedValue(LineDecoder())
    private let output = LockedValue(LineOutput())

    init(_ socket: ReadySocket, peer: String) {
        self.socket = socket
        self.peer = peer
    }

    /// Creates a transport over a connected stream socket and takes ownership of it.
    ///
    /// - Parameter descriptor: The socket, in blocking or non-blocking mode. The transport blocks no thread in either mode.
    public convenience init(descriptor: Int32) {
        let peer = Socket.peerAddress(descriptor).map { NWEndpoint($0.unmapped).peerText }
        self.init(ReadySocket(Descriptor(adopting: descriptor)), peer: peer ?? "a local peer")
    }

    /// Returns immediately: the socket is already connected.
    ///
    /// Cancellation: has no effect.
    public func open() async throws {}

    /// Sends a line.
    ///
    /// - Throws: `NWError`; ``LineProblem/tooLong`` for a line that is too long, which is not sent.
    ///
    /// Cancellation: see ``LineTransport``.
    public func send(_ line: Data) async throws {
        guard line.count <= LineFormat.limit else { throw LineProblem.tooLong }
        output.withLock { $0.append(line + LineFormat.end) }
        try await flush()
    }

    /// Sends all bytes that wait in ``output``.
    private func flush() async throws {
        do {
            while true {
                let rest = output.withLock { $0.rest }
                guard !rest.isEmpty else { return }
                let count = try await socket.write(rest)
                output.withLock { $0.sent(count) }
            }
        } catch {
            output.withLock { $0.cancel() }
            throw error
        }
    }

    /// Shuts down the socket's sending direction.
    ///
    /// - Throws: `NWError`.
    ///
    /// Cancellation: see ``LineTransport``. The call waits only for the rest of a line whose sending was cancelled.
    public func sendEnd() async throws {
        try await flush()
        try socket.endWriting()
    }

    /// Receives the next line without its line end; `nil` after the peer has ended its sending direction.
    ///
    /// - Throws: ``LineProblem`` after the valid lines; `NWError`.
    ///
    /// Cancellation: see ``LineTransport``.
    public func next() async throws -> Data? {
        try checkTaskCancellation()
        while true {
            if let line = try decoder.withLock({ decoder throws(LineProblem) in try decoder.next() }) { return line }
            let chunk = try await socket.read(atMost: 16_384)
            if chunk.isEmpty {
                try decoder.withLock { decoder throws(LineProblem) in try decoder.finish() }
                return nil
            }
            decoder.withLock { $0.append(chunk) }
        }
    }

    /// Shuts down both socket directions, which ends the waiting calls.
    public func close() { socket.shutDown() }
}

extension SocketLineTransport {
    /// Rejects parameters with protocols above TCP, which sockets do not support.
    static func check(_ parameters: NWParameters) throws {
        guard parameters.defaultProtocolStack.applicationProtocols.isEmpty else { throw NWError.posix(.EOPNOTSUPP) }
    }

    /// Tries the addresses of a host in order and uses the first connection that succeeds.
    static func connecting(
        to host: String, port: UInt16, family: SocketAddress.Family?
    ) async throws -> SocketLineTransport {
        let label = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: .init(integerLiteral: port)).peerText
        var problem: any Error = NWError(errno: Errno.addressNotAvailable)
        for address in try await addresses(of: host, family) {
            do {
                return SocketLineTransport(try await .connected(to: address.with(port: port)), peer: label)
            } catch {
                try checkTaskCancellation()
                problem = error
            }
        }
        throw problem
    }

    /// Listens on a port and waits for one connection.
    static func accepting(
        at host: String?, port: UInt16, family: SocketAddress.Family?,
        _ isListening: @Sendable (NWEndpoint.Port) -> Void
    ) async throws -> SocketLineTransport {
        let everywhere = family == .ipv4 ? "0.0.0.0" : "::"
        guard let local = try await addresses(of: host ?? everywhere, nil).first else {
            throw NWError(errno: Errno.addressNotAvailable)
        }
        let (socket, peer) = try await ReadySocket.accepted(at: local.with(port: port)) {
            isListening(.init(integerLiteral: $0))
        }
        return SocketLineTransport(socket, peer: peer.map { NWEndpoint($0.unmapped).peerText } ?? "a local peer")
    }

    private static func addresses(of host: String, _ family: SocketAddress.Family?) async throws -> [SocketAddress] {
        let inquiry = await NameQuery.addresses(of: host, family: family)
        try checkTaskCancellation()
        guard !inquiry.addresses.isEmpty else {
            throw inquiry.failure?.networkError ?? NWError(errno: Errno.addressNotAvailable)
        }
        return inquiry.addresses.map(\.address)
    }
}
