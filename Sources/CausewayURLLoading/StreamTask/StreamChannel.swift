internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// A stream task's connection: runs a ``StreamConversation`` over it.
///
/// The channel is created together with the task. It is the task's ``Loader``: the task starts, suspends and ends it.
/// The conversation's state changes under one lock. A change can produce actions, for example to send bytes. One thread
/// at a time performs the actions in order, without the lock.
final class StreamChannel: Loader {
    /// How a stream task gets its connection.
    enum Origin: Sendable {
        /// An endpoint to connect to, its port, and the name that TLS authenticates.
        case endpoint(NWEndpoint, name: String, port: UInt16)
        /// The connection of an HTTP response. `unread` contains bytes that were already received.
        case response(any ByteStream, unread: Data)
        /// There is no connection, because the task failed before it could connect.
        case nowhere
    }

    struct State: SequencedState {
        var conversation: StreamConversation
        var line = ActionLine<StreamConversation.Action>(keepsStorage: true)
        var stream: RecallableStream?
        var connection: NWConnection?
        var isWaiting = false
        /// When the connection attempt began; `nil` if the connection uses no proxy.
        var start: Duration?
        /// The credentials for proxies; `nil` before a proxy has refused the connection.
        var proxy: ProxyAccess?
        var rejection: TrustRejection?
        /// The task; `nil` after its end.
        var core: TaskCore?
        var calls: CallList?

        mutating func queueActions() -> Bool { line.move(&conversation.actions) }
    }

    let origin: Origin
    let network: HTTPNetwork
    let state: LockedValue<State>

    init(_ origin: Origin, _ network: HTTPNetwork) {
        self.origin = origin
        self.network = network
        let limit = network.settings.timeouts.request
        state = LockedValue(State(conversation: StreamConversation(handshakeLimit: limit > 0 ? limit : 60)))
    }

    /// Sets the task.
    func attach(_ core: TaskCore) {
        state.withLock { state in
            state.core = core
            state.calls = core.calls
        }
    }

    // MARK: Calls of the program

    func read(_ minimum: Int, _ maximum: Int, _ timeout: TimeInterval, _ handler: @escaping StreamRead.Handler) {
        apply { $0.read(minimum, maximum, timeout: timeout, handler, at: $1) }
    }

    func write(_ content: Data, _ timeout: TimeInterval, _ handler: @escaping StreamWrite.Handler) {
        apply { $0.write(content, timeout: timeout, handler, at: $1) }
    }

    func closeRead() { apply { $0.closeRead(at: $1) } }

    func closeWrite() { apply { $0.closeWrite(at: $1) } }

    func change(_ change: StreamBatch.Change) { apply { $0.change(change, at: $1) } }

    // MARK: Loader

    func start() {
        switch origin {
        case .response(let stream, let unread): opened(RecallableStream(stream, unread: unread))
        case .endpoint(let endpoint, _, _): connect(to: endpoint)
        case .nowhere: fail(LoadFailure(.badURL))
        }
    }

    func demandChanged() {
        guard let core = state.withLock({ state in state.core }) else { return }
        var isRunning: Bool
        repeat {
            isRunning = core.isRunning
            apply { $0.setPaused(!isRunning, at: $1) }
            // Another thread may have suspended or resumed the task after the loop read the task's state. In this case,
            // repeat.
        } while core.isRunning != isRunning
    }

    func stop() {}

    /// Ends all operations, and the connection, with the task's error.
    func end(_ error: (any Error)?) {
        apply { conversation, _ in conversation.end(error) }
        release()
    }

    /// Releases the task.
    func release() {
        let core = state.withLock { state in state.core.take() }
        withExtendedLifetime(core) {}
    }

    // MARK: The connection

    func connect(to endpoint: NWEndpoint) {
        do throws(NWError) {
            // The proxies for https are used, because they can tunnel any TCP connection.
            _ = try network.proxies(isSecure: true)
        } catch {
            return fail(LoadFailure(unusableProxies: error))
        }
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        let parameters = NWParameters(tls: nil, tcp: tcp)
        network.limit(parameters, isSecure: true, ConnectionNeeds(network.settings.access))
        let connection = NWConnection(to: endpoint, using: parameters)
        let usesProxy = network.usesProxy(isSecure: true)
        state.withLock { state in
            state.connection = connection
            state.start = usesProxy ? System.now : nil
        }
        connection.stateUpdateHandler = { [weak self] state in self?.connectionChanged(to: state) }
        connection.betterPathUpdateHandler = { [weak self] isBetter in
            guard isBetter, let core = self?.state.withLock({ state in state.core }) else { return }
            core.notifyStream(.betterRoute) { $0.urlSession($1, betterRouteDiscoveredFor: $2) }
        }
        connection.start(queue: DispatchQueue(label: "causeway.stream-task", target: .global()))
    }

    private func connectionChanged(to change: NWConnection.State) {
        switch change {
        case .ready:
            let (connection, core, wasWaiting) = state.withLock { state in
                defer { state.isWaiting = false }
                return (state.connection, state.core, state.isWaiting)
            }
            if wasWaiting { core?.perform { $0.handle(.continues) } }
            if let connection { opened(RecallableStream(ConnectionByteStream(connection))) }
        case .waiting(let error):
            if isAnswered(error) { return }
            let (connection, core, isFirst) = state.withLock { state in
                defer { state.isWaiting = true }
                return (state.connection, state.core, !state.isWaiting)
            }
            // Keep waiting only if the session waits for connectivity and there is no usable path. A path can appear
            // later. In all other cases, such as a refused connection attempt, the task fails.
            let canWait = network.settings.access.waitsForConnectivity && connection?.currentPath?.status != .satisfied
            guard canWait else { return failConnecting(error) }
            if isFirst { core?.perform { $0.handle(.waiting) } }
        case .failed(let error): if !isAnswered(error) { failConnecting(error) }
        case .setup, .preparing, .cancelled: break
        }
    }

    private func opened(_ stream: RecallableStream) {
        let core = state.withLock { state -> TaskCore? in
            guard state.stream == nil else { return nil }
            state.stream = stream
            return state.core
        }
        guard let core else { return }
        storeAcceptedCredential()
        core.perform { $0.streamOpened() }
        apply { $0.opened(at: $1) }
    }

    /// Fails the task with a connection error. Has no effect once the connection is established: reads and writes then
    /// report failures.
    ///
    /// - Parameter reason: Advice for the program or its user, such as which library to install; `nil` if the error
    ///   needs no advice.
    func failConnecting(_ error: NWError, _ reason: String? = nil) {
        guard state.withLock({ state in state.stream == nil }) else { return }
        var failure = LoadFailure(connecting: error, nil, network.settings.access.options)
        if let reason { failure.details[LoadFailure.reasonKey] = reason }
        fail(failure)
    }

    private func fail(_ failure: LoadFailure) { apply { conversation, _ in conversation.endTask(failure) } }

    // MARK: TLS

    private func secure(_ unread: Data, isAtEnd: Bool) {
        let (stream, core) = state.withLock { state in (state.stream, state.core) }
        guard let stream, let core else { return }
        stream.unread(unread)
        if isAtEnd { stream.unreadEnd() }
        let options = NWProtocolTLS.Options()
        network.limit(options)
        let (host, port) = core.streamHost
        StreamChallenges(core, host, port) { [self] rejection in state.withLock { $0.rejection = rejection } }
            .install(in: options.securityProtocolOptions)
        do throws(NWError) {
            let secured = try SecureByteStream(over: stream, options, host: NWEndpoint.Host(host), port: port)
            secured.start { [self] error in
                if error == nil { state.withLock { $0.stream = RecallableStream(secured) } }
                let failure = error.map { handshakeFailure($0, secured.failureReason) }
                apply { $0.secured(failure, at: $1) }
            }
        } catch {
            apply { $0.secured(LoadFailure(.handshakeFailed, underlying: error), at: $1) }
        }
    }

    private func handshakeFailure(_ error: NWError, _ reason: String?) -> LoadFailure {
        let rejection = state.withLock { state in state.rejection.take() }
        guard case .tls = error else { return LoadFailure(.connectionLost, underlying: error) }
        var failure = LoadFailure(connecting: error, rejection, network.settings.access.options)
        if let reason { failure.details[LoadFailure.reasonKey] = reason }
        return failure
    }

    // MARK: Actions

    private func apply(_ body: (inout StreamConversation, Duration) -> Void) {
        let now = MonotonicTime.now
        state.change({ state in body(&state.conversation, now) }, perform: perform)
    }

    private func perform(_ action: StreamConversation.Action) {
        let (stream, core, calls) = state.withLock { state in (state.stream, state.core, state.calls) }
        switch action {
        case .receive(let limit): receive(limit, stream, core)
        case .recall:
            let isRecalled = stream?.recall() ?? false
            apply { $0.recalled(isRecalled, at: $1) }
        case .send(let content, let isFinal):
            stream?.send(content, isFinal: isFinal) { [self] error in
                if error == nil { core?.noteStream(sent: content.count) }
                apply { $0.sent(content.count, error, at: $1) }
            }
        case .secure(let unread, let isAtEnd): secure(unread, isAtEnd: isAtEnd)
        case .capture(let unread, let isAtEnd): capture(unread, isAtEnd: isAtEnd)
        case .call(let body): calls?.add(body)
        case .reportReadClosed: core?.notifyStream(.readClosed) { $0.urlSession($1, readClosedFor: $2) }
        case .reportWriteClosed: core?.notifyStream(.writeClosed) { $0.urlSession($1, writeClosedFor: $2) }
        case .wake(let time): wake(at: time)
        case .end(let error): core?.perform { $0.finish(error) }
        case .disconnect(let isInterrupted): disconnect(isInterrupted: isInterrupted)
        }
    }

    private func receive(_ limit: Int, _ stream: RecallableStream?, _ core: TaskCore?) {
        stream?.receive(atMost: limit) { [self] arrival in
            core?.noteStream(received: arrival.content.count)
            apply { $0.arrived(arrival, at: $1) }
        }
    }

    private func wake(at time: Duration) {
        let wait = min(time - MonotonicTime.now, .seconds(100_000_000))
        DispatchQueue.global().call(after: wait) { [weak self] in
            self?.apply { $0.advance(to: $1) }
        }
    }

    private func capture(_ unread: Data, isAtEnd: Bool) {
        let (stream, core) = state.withLock { state in
            defer { state.connection = nil }
            return (state.stream.take(), state.core)
        }
        guard let stream, let core else { return }
        stream.unread(unread)
        if isAtEnd { stream.unreadEnd() }
        core.perform { $0.streamCaptured(stream) }
    }

    private func disconnect(isInterrupted: Bool) {
        let (stream, connection) = state.withLock { state in
            defer { (state.stream, state.connection) = (nil, nil) }
            return (state.stream, state.connection)
        }
        if let stream { return stream.close(isInterrupted: isInterrupted) }
        connection?.forceCancel()
        if stream == nil, connection == nil, case .response(let stream, _) = origin {
            stream.close(isInterrupted: true)
        }
    }
}
