internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import DequeModule
internal import FoundationEssentials

/// One request and its response, between the connection and the handler.
final class ServerExchange: Sendable {
    private enum Content {
        case open
        case finished(FieldSection)
        case failed(HTTPServerError)
    }

    private struct State {
        var content: Content
        var pieces = Deque<Data>()
        var reader: CheckedContinuation<Result<Data?, any Error>, Never>?
        var trailers = FieldSection()
        /// Whether the client disconnected before the handler finished. `nil` while the client is connected and the
        /// handler runs.
        var isAbandoned: Bool?
        var watcher: UnsafeContinuation<Bool, Never>?
        var status = 0
        var sentCount = 0
    }

    let id: HTTPServerConnection.RequestID
    let head: HTTPServerRequestHead
    let connection: ServerConnection
    let start: Duration
    private let state: LockedValue<State>

    init(
        _ id: HTTPServerConnection.RequestID, _ head: HTTPServerRequestHead, _ connection: ServerConnection,
        at now: Duration
    ) {
        self.id = id
        self.head = head
        self.connection = connection
        start = now
        state = LockedValue(State(content: head.hasContent ? .open : .finished(FieldSection())))
    }

    // MARK: Connection

    func received(_ piece: Data) {
        let reader = state.withLock { state in
            if state.reader == nil { state.pieces.append(piece) }
            return state.reader.take()
        }
        guard let reader else { return }
        reader.resume(returning: .success(piece))
        connection.took(piece.count, of: id)
    }

    func finished(_ trailers: FieldSection) { end(.finished(trailers)) }

    func failed(_ error: HTTPServerError) { end(.failed(error)) }

    private func end(_ content: Content) {
        let reader = state.withLock { state -> CheckedContinuation<Result<Data?, any Error>, Never>? in
            guard case .open = state.content else { return nil }
            state.content = content
            return state.reader.take()
        }
        guard let reader else { return }
        if case .failed(let error) = content {
            reader.resume(returning: .failure(error))
        } else {
            reader.resume(returning: .success(nil))
        }
    }

    /// Handles the end of the request.
    func closed(isComplete: Bool) {
        failed(.clientGone)
        if !isComplete { setAbandoned(true) }
    }

    func handlerFinished() { setAbandoned(false) }

    private func setAbandoned(_ isAbandoned: Bool) {
        let watcher = state.withLock { state in
            if state.isAbandoned == nil { state.isAbandoned = isAbandoned }
            return state.watcher.take()
        }
        watcher?.resume(returning: isAbandoned)
    }

    /// Waits until the handler has finished or the client is gone. Returns `true` if the client is gone.
    func isAbandoned() async -> Bool {
        await withUnsafeContinuation { continuation in
            let known = state.withLock { state in
                if state.isAbandoned == nil { state.watcher = continuation }
                return state.isAbandoned
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    // MARK: Reading

    var trailers: FieldSection? {
        state.withLock { state in
            guard case .finished(let trailers) = state.content, state.pieces.isEmpty else { return nil }
            return trailers
        }
    }

    /// Reads the next chunk of content. Returns `nil` at its end.
    nonisolated(nonsending) func read() async throws -> Data? {
        try Task.checkCancellation()
        if let known = take() { return try known.get() }
        if head.hasContent { connection.requestContent(id) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    precondition(state.reader == nil, "two tasks read the content of one request")
                    guard state.pieces.isEmpty, case .open = state.content, !Task.isCancelled else { return false }
                    state.reader = continuation
                    return true
                }
                if !isWaiting {
                    continuation.resume(
                        returning: Task.isCancelled ? .failure(CancellationError()) : take() ?? .success(nil))
                }
            }
        } onCancel: {
            state.withLock { state in state.reader.take() }?.resume(returning: .failure(CancellationError()))
        }
        return try result.get()
    }

    private func take() -> Result<Data?, any Error>? {
        let result = state.withLock { state -> Result<Data?, any Error>? in
            if let piece = state.pieces.popFirst() { return .success(piece) }
            switch state.content {
            case .open: return nil
            case .finished: return .success(nil)
            case .failed(let error): return .failure(error)
            }
        }
        if case .success(let piece?) = result { connection.took(piece.count, of: id) }
        return result
    }

    // MARK: Responding

    /// The response status, and the number of content bytes sent in the response. The status is 0 before the response
    /// begins.
    var outcome: (status: Int, sentCount: Int) { state.withLock { ($0.status, $0.sentCount) } }

    /// - Precondition: The status is interim and not 100 or 101; see ``RequestOrigin/inform(_:_:)``.
    func inform(_ status: Int, _ fields: FieldSection) throws(HTTPServerError) {
        try perform { [id] machine throws(HTTPServerRefusal) in try machine.inform(id, status, fields) }
    }

    /// Sends the response head, and the whole content or its first chunk.
    func respond(
        _ status: Int, _ fields: FieldSection, _ content: HTTPServerContent, _ first: ByteChain = ByteChain(),
        isWhole: Bool = true
    ) throws(HTTPServerError) {
        try perform { [id] machine throws(HTTPServerRefusal) in
            try machine.respond(id, status, fields, content)
            // Record the status and the length here, after ``HTTPServerConnection`` has accepted the head. If the call
            // above rejects the head, the program sends another response.
            state.withLock { state in (state.status, state.sentCount) = (status, first.count) }
            guard content != .none else { return }
            try machine.send(id, first)
            if isWhole { try machine.finish(id) }
        }
    }

    /// Sends a chunk of content, and waits while the client does not read.
    func write(_ piece: ByteChain) async throws {
        try enqueue(piece)
        await connection.awaitRoom(id)
        try Task.checkCancellation()
    }

    /// Sends a chunk of content without waiting.
    func enqueue(_ piece: ByteChain) throws(HTTPServerError) {
        state.withLock { $0.sentCount += piece.count }
        try perform { [id] machine throws(HTTPServerRefusal) in try machine.send(id, piece) }
    }

    func setTrailers(_ fields: FieldSection) { state.withLock { $0.trailers = fields } }

    func finish() throws(HTTPServerError) {
        let trailers = state.withLock { $0.trailers }
        try perform { [id] machine throws(HTTPServerRefusal) in try machine.finish(id, trailers: trailers) }
    }

    func upgrade(_ fields: FieldSection) throws(HTTPServerError) {
        let isHTTP2 = head.version >= .http2
        try perform { [id] machine throws(HTTPServerRefusal) in
            try machine.upgrade(id, fields)
            state.withLock { state in
                state.status = isHTTP2 ? 200 : 101
                // In HTTP/1.1, the bytes of the new protocol follow the request on the connection. In HTTP/2, they are
                // the content of the request, which may already have ended (RFC 8441 §5).
                if !isHTTP2 { state.content = .open }
            }
        }
    }

    func interrupt() { try? perform { [id] machine in machine.interrupt(id) } }

    private func perform(
        _ body: (inout HTTPServerConnection) throws(HTTPServerRefusal) -> Void
    ) throws(HTTPServerError) {
        do throws(HTTPServerRefusal) {
            try connection.perform(body)
        } catch {
            switch error {
            case .closed: throw .clientGone
            case .invalid(let text): throw HTTPServerError(.invalidMessage, 500, text)
            }
        }
    }
}
