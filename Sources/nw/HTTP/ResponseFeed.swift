import Causeway
import CausewayHTTP
import CausewayWire
import FoundationEssentials
import Synchronization

/// The response to one request, as a task reads it.
final class ResponseFeed: HTTPResponseObserver {
    /// The number of buffered bytes at which the connection stops reading.
    private static let limit = 512 << 10

    private struct State {
        var handle: HTTPRequestHandle?
        var head: HTTPResponseHead?
        var connection: HTTPConnectionInformation?
        var interim: [HTTPResponseHead] = []
        var pieces: [Data] = []
        var count = 0
        var isPaused = false
        var sentCount = 0
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

    /// Number of content bytes that were sent.
    var sentCount: Int { state.withLock { $0.sentCount } }

    /// Whether the request has ended.
    var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// The interim responses so far.
    var interim: [HTTPResponseHead] { state.withLock { $0.interim } }

    /// The trailer fields; empty before the end.
    var trailers: FieldSection { state.withLock { state in (try? state.result?.get()) ?? FieldSection() } }

    func cancel() { state.withLock { $0.handle }?.cancel() }

    /// Ends the request with a failure that the engine does not detect. Has no effect after the head has arrived.
    func give(up failure: HTTPFailure) {
        update { state in if state.head == nil, state.result == nil { state.result = .failure(failure) } }
        cancel()
    }

    // MARK: Reading

    /// Waits for the final head.
    func head() async throws(HTTPFailure) -> (head: HTTPResponseHead, connection: HTTPConnectionInformation) {
        while true {
            let (head, connection, result) = state.withLock { ($0.head, $0.connection, $0.result) }
            if let head, let connection { return (head, connection) }
            if case .failure(let failure) = result { throw failure }
            await wait { $0.head != nil || $0.result != nil }
        }
    }

    /// Waits for content and takes all of it that has arrived. Returns `nil` at the end.
    func pieces() async throws(HTTPFailure) -> [Data]? {
        while true {
            let (pieces, result, resumed) = state.withLock { state in
                defer {
                    state.pieces = []
                    state.count = 0
                    state.isPaused = false
                }
                return (state.pieces, state.result, state.isPaused ? state.handle : nil)
            }
            resumed?.setReading(true)
            if !pieces.isEmpty { return pieces }
            switch result {
            case .success: return nil
            case .failure(let failure): throw failure
            case nil: await wait { !$0.pieces.isEmpty || $0.result != nil }
            }
        }
    }

    /// Waits until the state satisfies a condition. Cancellation: cancels the request, whose end satisfies every condition.
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

    /// Ends the request: the command does not wait for a network, as no other tool does.
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
        var paused: HTTPRequestHandle?
        update { state in
            state.pieces.append(content)
            state.count += content.count
            if state.count >= Self.limit, !state.isPaused {
                state.isPaused = true
                paused = state.handle
            }
        }
        paused?.setReading(false)
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        update { state in state.result = state.result ?? result }
    }
}
