internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Moves bytes between a connection and an ``HTTPServerConnection``, and passes requests to the program's handler.
///
/// One task receives, and each request is served in a child task. State changes happen under one lock. The resulting actions are performed
/// in order, by one thread at a time, without the lock.
final class ServerConnection: Sendable {
    /// The number of unsent bytes in the transport at which writers must wait.
    static let outputLimit = 128 << 10
    private static let receiveLimit = 64 << 10

    let remoteEndpoint: NWEndpoint
    let isSecure: Bool
    let service: ServerService
    private let connection: NWConnection
    private let state: LockedValue<ServerConnectionState>

    init(_ connection: NWConnection, _ service: ServerService, isSecure: Bool) {
        self.connection = connection
        self.service = service
        self.isSecure = isSecure
        remoteEndpoint = connection.endpoint
        state = LockedValue(
            ServerConnectionState(
                machine: HTTPServerConnection(service.limits, isSecure: isSecure, at: System.now),
                patience: ServerPatience(lingerTime: service.lingerTime, stallTime: service.limits.stallTime)))
    }

    // MARK: Serving

    /// Serves the connection until it has ended. Call this in the task that the listener has started for it.
    func run() async {
        transition { _, _ in }
        await withDiscardingTaskGroup { group in
            while await mayReceive() {
                let hasLost = await receive()
                while let exchange = state.withLock({ $0.ready.takeForNewTask() }) {
                    // Without an executor for handlers, the child task runs on the event loop, like this task.
                    if let executor = service.handlerExecutor {
                        group.addTask(executorPreference: executor) { await self.serve(exchange) }
                    } else {
                        group.addTask { await self.serve(exchange) }
                    }
                }
                // The client may be gone. Cancel the handlers: those that wait for something other than the client need
                // not continue.
                if hasLost { group.cancelAll() }
            }
            group.cancelAll()
        }
        // All request tasks have ended, so nothing waits for this connection any more.
        abort()
    }

    /// Receives bytes once. Returns `true` if the connection failed, or if the client ended its side before all
    /// responses to its requests were complete.
    private func receive() async -> Bool {
        do throws(NWError) {
            let content = try await connection.receive(atMost: Self.receiveLimit)
            return transition { state, now in state.received(content, at: now) }
        } catch {
            transition { state, _ in state.lost() }
            return true
        }
    }

    /// Waits until the connection can take more input. Returns `false` when it has ended.
    private func mayReceive() async -> Bool {
        let known = state.withLock { $0.mayReceive }
        if let known { return known }
        return await withUnsafeContinuation { continuation in
            let known = state.withLock { state in
                if state.mayReceive == nil { state.receiver = continuation }
                return state.mayReceive
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func serve(_ first: ServerExchange) async {
        guard first.head.version >= .http2 else {
            // The end of a response can make the next pipelined request ready. This request waits until the client has
            // taken the response.
            var next: ServerExchange? = first
            while let exchange = next {
                await service.serve(exchange)
                await awaitRoomAlways(exchange.id)
                next = state.withLock { $0.ready.takeNext() }
            }
            return
        }
        // The streams are independent of each other. If the client resets one stream, cancel only the task for this
        // stream.
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.service.serve(first)
                first.handlerFinished()
            }
            if await first.isAbandoned() { group.cancelAll() }
        }
    }

    // MARK: Control

    /// Closes the connection when the requests in progress are complete.
    func shutDown() { transition { state, now in state.machine.shutDown(at: now) } }

    /// Closes the connection at once.
    func abort() { transition { state, _ in state.abort() } }

    /// When the connection began to wait for a request, or for the rest of its head; `nil` if it does not wait.
    var waitStart: Duration? { state.withLock { $0.waitStart } }

    /// Closes the connection if it has waited for a request since `start`, so that another client can connect. Returns whether it closes.
    func giveWay(since start: Duration) -> Bool { transition { state, _ in state.giveWay(since: start) } }

    /// Calls `body` after a time.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        connection.driver.flow.loop.schedule(after: delay, body)
    }

    func cancel(_ timer: TimerID) { connection.driver.flow.loop.cancel(timer) }

    // MARK: Requests

    func perform(_ body: (inout HTTPServerConnection) throws(HTTPServerRefusal) -> Void) throws(HTTPServerRefusal) {
        var refusal: HTTPServerRefusal?
        transition { state, _ in
            do throws(HTTPServerRefusal) { try body(&state.machine) } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }

    func took(_ count: Int, of id: HTTPServerConnection.RequestID) {
        transition { state, _ in state.machine.took(count, of: id) }
    }

    /// Sends status 100 if the client waits for that status before it sends the content.
    func requestContent(_ id: HTTPServerConnection.RequestID) {
        transition { state, _ in state.machine.requestContent(id) }
    }

    /// Waits until a response's queued content was passed to the transport, and the transport has less than
    /// ``outputLimit`` unsent bytes, or until the request or the connection has ended.
    ///
    /// Cancellation: returns at once.
    func awaitRoom(_ id: HTTPServerConnection.RequestID) async {
        guard state.withLock({ !$0.hasRoom(id) }) else { return }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isKnown = state.withLock { state in
                    if state.hasRoom(id) || Task.isCancelled { return true }
                    state.writers.append((id, continuation))
                    return false
                }
                if isKnown { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in state.takeWriters { $0 == id } }.forEach { $0.resume() }
        }
    }

    /// Waits like ``awaitRoom(_:)``, but also in a cancelled task.
    ///
    /// If the client ends only its own side of the connection, the request's task is cancelled too. Such a client can
    /// still read the rest of the response, at its own pace.
    func awaitRoomAlways(_ id: HTTPServerConnection.RequestID) async {
        guard state.withLock({ !$0.hasRoom(id) }) else { return }
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let hasRoom = state.withLock { state in
                if state.hasRoom(id) { return true }
                state.writers.append((id, continuation))
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    // MARK: Actions

    @discardableResult
    private func transition<Result: Sendable>(_ body: (inout ServerConnectionState, Duration) -> Result) -> Result {
        let now = System.now
        return state.change { state in
            let result = body(&state, now)
            state.pump(self, at: now)
            return result
        } perform: { action in
            perform(action)
        }
    }

    private func perform(_ action: ServerConnectionState.Action) {
        switch action {
        case .send(let bytes): send(bytes)
        case .deliver(let exchange, let content): exchange.received(content)
        case .finish(let exchange, let trailers): exchange.finished(trailers)
        case .refuse(let exchange): exchange.failed(.contentTooLong)
        case .close(let exchange, let isComplete): exchange.closed(isComplete: isComplete)
        case .resumeReceiver(let continuation, let mayReceive): continuation.resume(returning: mayReceive)
        case .resumeWriters(let continuations): for continuation in continuations { continuation.resume() }
        case .schedule(let delay): schedule(after: delay)
        case .endSending:
            connection.send(content: nil, contentContext: .finalMessage, isComplete: true, completion: .idempotent)
        case .disconnect(let isInterrupted):
            if isInterrupted { connection.forceCancel() } else { connection.cancel() }
        }
    }

    /// Sends bytes with as few system calls as possible: small pieces are joined.
    private func send(_ bytes: ByteChain) {
        var bytes = bytes
        let count = bytes.count
        guard count > 16 << 10 else {
            var all = Data(capacity: count)
            while let piece = bytes.popPiece() { all.append(contentsOf: piece) }
            return send(all, reporting: count)
        }
        let parts = ServerOutput.parts(of: bytes)
        connection.batch {
            for part in parts {
                if let count = part.reportedCount {
                    send(part.content, reporting: count)
                } else {
                    connection.send(content: part.content, completion: .idempotent)
                }
            }
        }
    }

    private func send(_ content: Data, reporting count: Int) {
        let completion: @Sendable (NWError?) -> Void = { [self] error in
            transition { state, now in state.sent(count, error, at: now) }
        }
        connection.send(content, passing: completion)
    }

    private func schedule(after delay: Duration) {
        _ = schedule(after: delay) { [weak self] in
            self?.transition { state, now in state.timerFired(at: now) }
        }
    }
}
