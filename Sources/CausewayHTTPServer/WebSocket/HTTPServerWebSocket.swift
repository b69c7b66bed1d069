internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
public import FoundationEssentials

/// A client's WebSocket connection to a server (RFC 6455).
///
/// Pings are answered while ``receive()`` waits. All methods may be called from any task, but only one task at a time
/// may call ``receive()``.
public final class HTTPServerWebSocket: Sendable {
    /// A message.
    public enum Message: Sendable, Equatable {
        /// A text message.
        case text(String)
        /// A binary message.
        case data(Data)
    }

    fileprivate struct State {
        var machine: WebSocketMachine
        /// The parts received so far of a message that is not complete yet.
        var partial = Data()
        var isFlushing = false
    }

    /// The negotiated subprotocol; `nil` for none.
    public let subprotocol: String?
    /// Whether messages are compressed; see ``HTTPServerResponse/webSocket(protocols:maximumMessageLength:compression:_:)``.
    public let usesCompression: Bool
    private let exchange: ServerExchange
    private let state: LockedValue<State>

    init(_ exchange: ServerExchange, _ agreement: WebSocketRoute.Agreement, maximumMessageLength: Int) {
        self.exchange = exchange
        subprotocol = agreement.subprotocol
        usesCompression = agreement.codec != nil
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        configuration.repliesToPings = true
        configuration.maximumMessageSize = maximumMessageLength
        var machine = WebSocketMachine(.server, configuration: configuration)
        if let codec = agreement.codec { machine.compress(with: codec) }
        machine.started()
        state = LockedValue(State(machine: machine))
    }

    /// Receives the next message. Returns `nil` when the client has closed the connection.
    ///
    /// Cancellation: throws `CancellationError`. No message is lost.
    ///
    /// - Throws: ``HTTPServerError`` with the code `clientGone` if the connection was lost, or `invalidMessage` if the client violated the
    ///   protocol; `CancellationError`.
    public func receive() async throws -> Message? {
        while true {
            let step = state.withLock { $0.nextStep() }
            let hasAnswered = try flush()
            switch step {
            case .message(let message):
                if hasAnswered { await exchange.connection.awaitRoom(exchange.id) }
                return message
            case .end: return nil
            case .failure(let text): throw HTTPServerError(.invalidMessage, 400, text)
            // A pong was sent. Now wait until the client has read enough data. Otherwise, a client could send pings
            // without reading the pongs, and fill the server's memory.
            case .wait: if hasAnswered { await exchange.connection.awaitRoom(exchange.id) }
            }
            if let bytes = try await exchange.read() {
                state.withLock { $0.machine.received(ByteChain(Array(bytes))) }
            } else {
                state.withLock { $0.machine.inputEnded() }
            }
        }
    }

    /// Sends a message. Suspends while the client does not read.
    ///
    /// - Throws: ``HTTPServerError`` with the code `clientGone` if the connection is closed; `CancellationError`.
    ///
    /// Cancellation: the message is still sent. This method does not wait until the client reads, and throws
    /// `CancellationError`.
    public func send(_ message: Message) async throws {
        let isAccepted = state.withLock { state in
            switch message {
            case .text(let text): state.machine.send(.text, ByteChain(Array(text.utf8)))
            case .data(let data): state.machine.send(.binary, ByteChain(Array(data)))
            }
        }
        guard isAccepted else { throw HTTPServerError.clientGone }
        try flush()
        await exchange.connection.awaitRoom(exchange.id)
        try Task.checkCancellation()
    }

    /// Sends a text message.
    ///
    /// - Throws: As ``send(_:)-(HTTPServerWebSocket.Message)``.
    public func send(_ text: String) async throws { try await send(.text(text)) }

    /// Starts to close the connection. Messages that the client sends afterwards are still received.
    ///
    /// - Parameters:
    ///   - code: The close code (RFC 6455 §7.4); 1000 for a normal end.
    ///   - reason: The reason, at most 123 bytes of UTF-8.
    public func close(code: UInt16 = 1_000, reason: String = "") {
        state.withLock { $0.machine.close(WebSocketClosing(code: WebSocketCloseCode(rawValue: code), reason: reason)) }
        _ = try? flush()
    }

    /// Closes the connection, and waits until the client has closed it too.
    func finish() async {
        close()
        while (try? await receive()) ?? nil != nil {}
        try? exchange.finish()
    }

    /// Passes all ready frames to the HTTP connection. Returns whether there were any frames.
    ///
    /// Only one thread at a time passes frames, so that they stay in order.
    @discardableResult
    private func flush() throws(HTTPServerError) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isFlushing = true }
            return !state.isFlushing
        }
        guard isFirst else { return false }
        var hasOutput = false
        while let output = state.withLock({ $0.nextOutput() }) {
            hasOutput = true
            do throws(HTTPServerError) { try exchange.enqueue(output) } catch {
                state.withLock { $0.isFlushing = false }
                throw error
            }
        }
        return hasOutput
    }
}

extension HTTPServerWebSocket.State {
    fileprivate enum Step {
        case message(HTTPServerWebSocket.Message)
        case wait
        case end
        case failure(String)
    }

    /// Takes events of the WebSocket connection until a message is complete.
    fileprivate mutating func nextStep() -> Step {
        while let event = machine.nextEvent() {
            switch event {
            case .content(let opcode, var bytes, let endsMessage):
                while let piece = bytes.popPiece() { partial.append(contentsOf: piece) }
                guard endsMessage else { continue }
                defer { partial = Data() }
                return .message(opcode == .text ? .text(String(decoding: partial, as: UTF8.self)) : .data(partial))
            case .ended(let failure?): return .failure(failure.explanation)
            case .ended(nil): return .end
            case .requested, .opened, .ping, .pong, .pingAnswered, .pingLost, .closed: continue
            }
        }
        return machine.hasEnded ? .end : .wait
    }

    fileprivate mutating func nextOutput() -> ByteChain? {
        let output = machine.nextOutput(atMost: 64 << 10)
        if output == nil { isFlushing = false }
        return output
    }
}
