internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import DequeModule
internal import FoundationEssentials

/// One request and its response. A connection reports the progress of the response, and a reader waits for it.
///
/// The connection delivers content only while ``room`` is positive, so at most ``unreadLimit`` bytes are buffered for the reader.
final class HTTPExchange: Sendable {
    /// The maximum number of content bytes that are buffered for the reader.
    static let unreadLimit = 64 << 10

    fileprivate enum Phase {
        /// The final head has not arrived.
        case waiting
        case body
        case finished(FieldSection)
        case failed(HTTPFailure)
    }

    fileprivate enum Waiter {
        case head(UnsafeContinuation<Result<HTTPResponseHead, HTTPFailure>, Never>)
        case piece(UnsafeContinuation<Result<Data?, HTTPFailure>, Never>)
    }

    fileprivate struct State {
        var phase = Phase.waiting
        var head: HTTPResponseHead?
        var informational: [HTTPResponseHead] = []
        var pieces = Deque<Data>()
        var unread = 0
        /// Whether the connection stopped reading because the buffer was full.
        var isStarved = false
        var waiter: Waiter?
        var connection: (any HTTPConnection)?
        var isReused = false
        /// Whether the current connection may have sent a part of the request.
        var wasSent = false
        var retryCount = 0
        var lastProgress: Duration
    }

    let id: UInt64
    let request: HTTPRequestValue
    let body: HTTPRequestBody
    private let start: Duration
    private let state: LockedValue<State>

    init(id: UInt64, _ request: HTTPRequestValue, _ body: HTTPRequestBody, at now: Duration) {
        self.id = id
        self.request = request
        self.body = body
        start = now
        state = LockedValue(State(lastProgress: now))
    }

    // MARK: Connection

    /// Attaches the connection that sends the request. Returns `false` if the request has already ended.
    func attach(_ connection: (any HTTPConnection)?, isReused: Bool) -> Bool {
        state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.connection = connection
            state.isReused = isReused
            return true
        }
    }

    /// Records that the connection starts to send the request. Returns `false` if the request has already ended.
    func beginSending() -> Bool {
        state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.wasSent = true
            return true
        }
    }

    /// Returns the number of content bytes that still fit into the reader's buffer. If the result is 0,
    /// ``HTTPConnection/readerHasRoom(_:)`` is called after the reader has taken enough of the content.
    func room() -> Int {
        state.withLock { state in
            let room = max(0, Self.unreadLimit - state.unread)
            state.isStarved = room == 0
            return room
        }
    }

    func informed(_ head: HTTPResponseHead, at now: Duration) {
        state.withLock { state in
            state.lastProgress = now
            state.informational.append(head)
        }
    }

    func responded(_ head: HTTPResponseHead, at now: Duration) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .waiting = state.phase else { return nil }
            state.phase = .body
            state.head = head
            state.lastProgress = now
            return state.waiter.take()
        }
        if case .head(let continuation) = waiter { continuation.resume(returning: .success(head)) }
    }

    func received(_ piece: Data, at now: Duration) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .body = state.phase else { return nil }
            state.lastProgress = now
            guard let waiter = state.waiter.take() else {
                state.pieces.append(piece)
                return nil
            }
            state.unread -= piece.count
            return waiter
        }
        if case .piece(let continuation) = waiter { continuation.resume(returning: .success(piece)) }
    }

    /// Counts content as buffered before ``received(_:at:)`` delivers it, so that ``room()`` is correct in the meantime.
    func reserve(_ count: Int) { state.withLock { state in state.unread += count } }

    func finished(_ trailers: FieldSection) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .body = state.phase else { return nil }
            state.phase = .finished(trailers)
            state.connection = nil
            return state.waiter.take()
        }
        if case .piece(let continuation) = waiter { continuation.resume(returning: .success(nil)) }
    }

    /// Ends the exchange with a failure. Returns the connection that must abandon the exchange; `nil` if there is none or the exchange had
    /// already ended.
    @discardableResult
    func fail(_ failure: HTTPFailure) -> (any HTTPConnection)? {
        let (waiter, connection) = state.withLock { state -> (Waiter?, (any HTTPConnection)?) in
            switch state.phase {
            case .finished, .failed: return (nil, nil)
            case .waiting, .body: break
            }
            state.phase = .failed(failure)
            if case .cancelled = failure { state.pieces = [] }
            return (state.waiter.take(), state.connection.take())
        }
        switch waiter {
        case .head(let continuation): continuation.resume(returning: .failure(failure))
        case .piece(let continuation): continuation.resume(returning: .failure(failure))
        case nil: break
        }
        if case .stream(let source, _) = body { source.stop() }
        return connection
    }

    // MARK: Sending again

    /// Returns the facts that decide whether the request can be retried; `nil` if the response has begun or the request has ended.
    func retryContext() -> RetryContext? {
        state.withLock { state in
            guard case .waiting = state.phase else { return nil }
            let content: RetryContext.Content =
                switch body {
                case .none: .none
                case .data: .repeatable
                case .stream: .stream(isRead: state.wasSent)
                }
            return RetryContext(
                method: request.method, content: content, connection: state.isReused ? .reused : .new,
                wasSent: state.wasSent, retryCount: state.retryCount)
        }
    }

    /// Prepares to send the request again. Returns `false` if the request has ended.
    func beginRetry() -> Bool {
        state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.connection = nil
            state.wasSent = false
            state.retryCount += 1
            state.informational = []
            return true
        }
    }

    // MARK: Time

    /// Returns the time of the next timeout and the failure that it causes; `nil` if the exchange has ended or has no timeout.
    func nextLimit(at now: Duration) -> (time: Duration, failure: HTTPFailure)? {
        state.withLock { state in
            switch state.phase {
            case .waiting, .body: break
            case .finished, .failed: return nil
            }
            let total = request.deadline.map { start + $0 }
            // While the reader takes no content, the connection cannot read. This time does not count as idle time of the peer.
            let idle = request.idleTimeout.map { (state.isStarved ? now : state.lastProgress) + $0 }
            if let total, total <= idle ?? total { return (total, .deadlineExceeded) }
            return idle.map { ($0, .timedOut) }
        }
    }

    /// Records that content of the request was sent.
    func progressed(at now: Duration) { state.withLock { state in state.lastProgress = now } }

    // MARK: Reader

    /// The interim responses so far (RFC 9110 §15.2).
    var informational: [HTTPResponseHead] { state.withLock { state in state.informational } }

    /// The trailer fields of the response; `nil` before the reader has taken the whole body.
    var trailers: FieldSection? {
        state.withLock { state in
            guard case .finished(let trailers) = state.phase, state.pieces.isEmpty else { return nil }
            return trailers
        }
    }

    /// Waits for the final head.
    func awaitHead() async -> Result<HTTPResponseHead, HTTPFailure> {
        await withUnsafeContinuation { continuation in
            let known = state.withLock { state -> Result<HTTPResponseHead, HTTPFailure>? in
                if case .failed(let failure) = state.phase { return .failure(failure) }
                if let head = state.head { return .success(head) }
                state.waiter = .head(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Waits for the next piece of the body. Returns `nil` at the end of the body.
    func awaitPiece(at now: Duration) async -> Result<Data?, HTTPFailure> {
        let (known, starved) = take(at: now)
        starved?.readerHasRoom(self)
        if let known { return known }
        return await withUnsafeContinuation { continuation in
            let known = state.withLock { state -> Result<Data?, HTTPFailure>? in
                if let known = state.takePiece() { return known }
                state.waiter = .piece(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func take(at now: Duration) -> (Result<Data?, HTTPFailure>?, (any HTTPConnection)?) {
        state.withLock { state in
            let known = state.takePiece()
            guard state.isStarved, state.unread <= Self.unreadLimit / 2 else { return (known, nil) }
            state.isStarved = false
            state.lastProgress = now
            return (known, state.connection)
        }
    }
}

extension HTTPExchange.State {
    /// Removes and returns the next result for the reader; `nil` if the reader has to wait.
    fileprivate mutating func takePiece() -> Result<Data?, HTTPFailure>? {
        if let piece = pieces.popFirst() {
            unread -= piece.count
            return .success(piece)
        }
        switch phase {
        case .waiting, .body: return nil
        case .finished: return .success(nil)
        case .failed(let failure): return .failure(failure)
        }
    }
}
