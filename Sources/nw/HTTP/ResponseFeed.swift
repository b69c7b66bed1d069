import Causeway
import CausewayHTTP
import CausewayWire
import FoundationEssentials
import Synchronization

/// The response to one request, buffered for a task that reads it.
final class ResponseFeed: HTTPResponseObserver {
    /// When this number of bytes is buffered, the connection stops reading.
    private static let limit = 512 << 10
    /// The maximum number of bytes that ``drain()`` reads.
    private static let drainLimit = 256 << 10

    private struct State {
        var handle: HTTPRequestHandle?
        var head: HTTPResponseHead?
        var connection: HTTPConnectionInformation?
        var interim: [HTTPResponseHead] = []
        var pieces: [Data] = []
        var count = 0
        var isPaused = false
        var sentCount = 0
        /// Called with each new piece of content, after ``deliver(to:)`` has passed on the buffered chunks.
        var consumer: (@Sendable (Data) throws -> Void)?
        var consumerError: (any Error)?
        var result: Result<FieldSection, HTTPFailure>?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Starts a request.
    func start(_ request: HTTPRequestValue, body: HTTPRequestBody, with engine: HTTPEngine) {
        let handle = engine.start(request, body: body, observer: self)
        let mustPause = state.withLock { state in
            state.handle = handle
            return state.isPaused
        }
        if mustPause { handle.setReading(false) }
    }

    /// The number of sent content bytes.
    var sentCount: Int { state.withLock { $0.sentCount } }

    /// Whether the request has ended, with or without success.
    var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// The interim responses so far.
    var interim: [HTTPResponseHead] { state.withLock { $0.interim } }

    /// The trailer fields; empty before the end.
    var trailers: FieldSection { state.withLock { state in (try? state.result?.get()) ?? FieldSection() } }

    func cancel() { state.withLock { $0.handle }?.cancel() }

    /// Ends the request with a failure that the HTTP engine itself does not report. One example is a connection that is
    /// not ready in time. Has no effect after the response's head has arrived.
    func give(up failure: HTTPFailure) {
        update { state in if state.head == nil, state.result == nil { state.result = .failure(failure) } }
        cancel()
    }

    // MARK: Reading

    /// Waits for the final response head.
    func head() async throws(HTTPFailure) -> (head: HTTPResponseHead, connection: HTTPConnectionInformation) {
        while true {
            let (head, connection, result) = state.withLock { ($0.head, $0.connection, $0.result) }
            if let head, let connection { return (head, connection) }
            if case .failure(let failure) = result { throw failure }
            await wait { $0.head != nil || $0.result != nil }
        }
    }

    /// Passes all content to `consumer`. Returns when the content has ended.
    ///
    /// The consumer may block the thread that receives the content. This is acceptable: the command has no other
    /// connection to serve, and the server waits meanwhile. If the content were passed to a task instead, a download
    /// would take twice the processor time.
    ///
    /// - Throws: ``HTTPFailure``, or the consumer's error.
    func deliver(to consumer: @escaping @Sendable (Data) throws -> Void) async throws {
        while true {
            let pieces = state.withLock { state in
                defer {
                    state.pieces = []
                    state.count = 0
                }
                if state.pieces.isEmpty { state.consumer = consumer }
                return state.pieces
            }
            guard !pieces.isEmpty else { break }
            // Call the consumer on another thread. If it blocks there, cancellation can still end `deliver(to:)`.
            try await FileThread("nw.http.output").run { for piece in pieces { try consumer(piece) } }
        }
        resume()
        await wait { $0.result != nil || $0.consumerError != nil }
        let (result, error) = state.withLock { ($0.result, $0.consumerError) }
        if let error { throw error }
        if case .failure(let failure) = result { throw failure }
    }

    /// Waits for content. Returns the chunks that have arrived; `nil` at the end of the content.
    ///
    /// If 512 KiB wait for the caller, the connection stops reading.
    func next() async throws -> [Data]? {
        while true {
            let (pieces, result) = state.withLock { state in
                defer {
                    state.pieces = []
                    state.count = 0
                }
                return (state.pieces, state.result)
            }
            if !pieces.isEmpty {
                resume()
                return pieces
            }
            if let result {
                _ = try result.get()
                return nil
            }
            await wait { !$0.pieces.isEmpty || $0.result != nil }
        }
    }

    /// Reads and drops the rest of the content, so that the connection can be reused. Cancels the request if the rest
    /// is longer than 256 KiB.
    func drain() async throws {
        let rest = Mutex(Self.drainLimit)
        try await deliver { [self] piece in
            let isTooLong = rest.withLock { rest in
                rest -= piece.count
                return rest < 0
            }
            if isTooLong { cancel() }
        }
    }

    private func resume() {
        let paused = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused ? state.handle : nil
        }
        paused?.setReading(true)
    }

    /// Suspends until the state satisfies a condition. A result satisfies every condition.
    ///
    /// Cancellation: cancels the request and sets the state's result.
    private func wait(until isMet: (borrowing State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if isMet(state) { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            // Set the request's result now. The HTTP engine would report the cancellation too late, because a consumer
            // that blocks its thread would have to return first.
            update { state in state.result = state.result ?? .failure(.cancelled) }
            cancel()
        }
    }

    private func update(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    // MARK: Events

    /// Called when the connection waits for a network. Ends the request. Like other tools, the command does not wait
    /// for a network.
    func waits(_ reason: NWError) { give(up: .cannotConnect(reason)) }

    func informed(_ head: HTTPResponseHead) {
        state.withLock { state in if state.interim.count < 100 { state.interim.append(head) } }
    }

    func sent(_ count: Int) { state.withLock { $0.sentCount += count } }

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        update { state in
            state.head = head
            state.connection = connection
        }
    }

    func received(_ content: Data) {
        var (waiter, paused): (CheckedContinuation<Void, Never>?, HTTPRequestHandle?)
        let consumer = state.withLock { state -> (@Sendable (Data) throws -> Void)? in
            if let consumer = state.consumer { return state.consumerError == nil ? consumer : nil }
            state.pieces.append(content)
            state.count += content.count
            waiter = state.waiter.take()
            if state.count >= Self.limit, !state.isPaused {
                state.isPaused = true
                paused = state.handle
            }
            return nil
        }
        paused?.setReading(false)
        waiter?.resume()
        do { try consumer?(content) } catch {
            update { state in state.consumerError = error }
            cancel()
        }
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        update { state in state.result = state.result ?? result }
    }
}
