internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// The state of a ``ServerConnection``. Changes add actions, which the connection performs without its lock.
struct ServerConnectionState: SequencedState {
    enum Action: Sendable {
        case send(ByteChain)
        case deliver(ServerExchange, Data)
        case finish(ServerExchange, FieldSection)
        case refuse(ServerExchange)
        case close(ServerExchange, isComplete: Bool)
        case resumeReceiver(UnsafeContinuation<Bool, Never>, Bool)
        case resumeWriters([UnsafeContinuation<Void, Never>])
        case schedule(Duration)
        case endSending
        case disconnect(isInterrupted: Bool)
    }

    enum Phase: Equatable {
        case open
        /// The final bytes are being sent. The server reads on until the client closes, because closing a connection
        /// with unread input resets the connection, and the client would lose the response.
        case ending(deadline: Duration)
        case closed
    }

    var machine: HTTPServerConnection
    private let patience: ServerPatience
    var phase = Phase.open
    private var exchanges: [ServerExchange] = []
    /// Requests that still wait for a task to serve them.
    var ready = ReadyExchanges()
    private var output = ServerOutput()
    private var inputHasEnded = false
    var receiver: UnsafeContinuation<Bool, Never>?
    var writers: [(id: HTTPServerConnection.RequestID, continuation: UnsafeContinuation<Void, Never>)] = []
    /// The time at which the earliest pending timer fires; `nil` if there is none.
    private var timer: Duration?
    var line = ActionLine<Action>()
    var actions: [Action] = []

    init(machine: HTTPServerConnection, patience: ServerPatience) {
        self.machine = machine
        self.patience = patience
    }

    mutating func queueActions() -> Bool { !actions.isEmpty && line.move(&actions) }

    // MARK: Receiving

    /// Whether the connection takes more input. The value is `false` if the connection has ended, and `nil` if the
    /// caller must wait.
    var mayReceive: Bool? {
        switch phase {
        case .closed: false
        case .ending: inputHasEnded ? nil : true
        case .open: !inputHasEnded && machine.wantsInput ? true : nil
        }
    }

    /// Handles received content. If the content is `nil`, the client has ended its sending direction.
    ///
    /// Returns whether the client has ended its sending direction while it waits for a response.
    mutating func received(_ content: Data?, at now: Duration) -> Bool {
        guard phase == .open else {
            if content == nil { inputHasEnded = true }
            return false
        }
        if let content {
            machine.received(Array(content)[...], at: now)
            return false
        }
        inputHasEnded = true
        machine.inputEnded()
        return !exchanges.isEmpty
    }

    /// Handles a transport failure.
    mutating func lost() {
        inputHasEnded = true
        abort()
    }

    mutating func abort() {
        machine.abort()
        disconnect(isInterrupted: true)
    }

    /// When the connection began to wait for a request; `nil` if it serves one or is closing.
    var waitStart: Duration? { phase == .open && exchanges.isEmpty ? machine.waitStart : nil }

    /// Closes the connection at once if it has waited for a request since `start`. Returns whether it was closed.
    mutating func giveWay(since start: Duration) -> Bool {
        guard waitStart == start else { return false }
        machine.abort()
        // For an HTTP/2 client, the output is a GOAWAY frame. It shows which of the latest requests were not processed,
        // so that the client can send these requests again.
        if let bytes = machine.nextOutput() { send(bytes) }
        disconnect(isInterrupted: false)
        return true
    }

    private mutating func disconnect(isInterrupted: Bool) {
        guard phase != .closed else { return }
        phase = .closed
        actions.append(.disconnect(isInterrupted: isInterrupted))
    }

    // MARK: Sending

    func hasRoom(_ id: HTTPServerConnection.RequestID) -> Bool {
        phase == .closed || output.hasRoom && machine.queuedByteCount(of: id) == 0
    }

    mutating func takeWriters(
        where isWanted: (HTTPServerConnection.RequestID) -> Bool
    ) -> [UnsafeContinuation<Void, Never>] {
        let taken = writers.filter { isWanted($0.id) }.map(\.continuation)
        if !taken.isEmpty { writers.removeAll { isWanted($0.id) } }
        return taken
    }

    mutating func sent(_ count: Int, _ error: NWError?, at now: Duration) {
        output.processed(count)
        guard error == nil else { return lost() }
        machine.sent(count, hasMore: output.isPending, at: now)
        if case .ending = phase { startEnding(at: now) }
    }

    // MARK: Machine

    /// Handles the events of ``machine``, and passes its output to the transport.
    ///
    /// Stops when there are no more events and no more output, or when the transport is full. Then resumes the writers
    /// that can continue, and the receive call if it can continue. Also sets the timer.
    mutating func pump(_ connection: ServerConnection, at now: Duration) {
        repeat {
            while let event = machine.nextEvent() { handle(event, connection, at: now) }
        } while flush()
        finishOutput()
        machine.settle(at: now)
        if !writers.isEmpty {
            let ready = writers.map(\.id).filter(hasRoom)
            let resumed = takeWriters { ready.contains($0) }
            if !resumed.isEmpty { actions.append(.resumeWriters(resumed)) }
        }
        if let receiver, let mayReceive {
            self.receiver = nil
            actions.append(.resumeReceiver(receiver, mayReceive))
        }
        setTimer(at: now)
    }

    /// Passes the next output bytes to the transport, unless the transport already has ``ServerConnection/outputLimit``
    /// unsent bytes. Returns whether it passed any bytes.
    private mutating func flush() -> Bool {
        guard phase != .closed, output.hasRoom, let bytes = machine.nextOutput() else { return false }
        if !output.isPending { machine.sending() }
        send(bytes)
        return true
    }

    private mutating func send(_ bytes: ByteChain) {
        output.passed(bytes.count)
        actions.append(.send(bytes))
    }

    /// Ends the connection after its final bytes. When the transport has received these bytes, ends the sending
    /// direction. Closes the connection when the transport has sent these bytes and the client has ended its own
    /// sending direction.
    private mutating func finishOutput() {
        guard case .ending = phase, output.hasRoom else { return }
        if output.end() { actions.append(.endSending) }
        if inputHasEnded, !output.isPending { disconnect(isInterrupted: false) }
    }

    private mutating func handle(_ event: HTTPServerConnection.Event, _ connection: ServerConnection, at now: Duration)
    {
        switch event {
        case .requested(let id, let head):
            let exchange = ServerExchange(id, head, connection, at: now)
            exchanges.append(exchange)
            ready.append(exchange)
        case .content(let id, let content):
            if let exchange = exchange(id) { actions.append(.deliver(exchange, Data(content))) }
        case .finished(let id, let trailers):
            if let exchange = exchange(id) { actions.append(.finish(exchange, trailers)) }
        case .refusedContent(let id): if let exchange = exchange(id) { actions.append(.refuse(exchange)) }
        case .clientEnded: break
        case .closed(let id, let isComplete):
            guard let exchange = exchange(id) else { return }
            exchanges.removeAll { $0 === exchange }
            actions.append(.close(exchange, isComplete: isComplete))
            let waiting = takeWriters { $0 == id }
            if !waiting.isEmpty { actions.append(.resumeWriters(waiting)) }
        case .ended(let isInterrupted): ended(isInterrupted: isInterrupted, at: now)
        }
    }

    private func exchange(_ id: HTTPServerConnection.RequestID) -> ServerExchange? {
        exchanges.first { $0.id == id }
    }

    private mutating func ended(isInterrupted: Bool, at now: Duration) {
        guard phase == .open else { return }
        guard !isInterrupted else { return disconnect(isInterrupted: true) }
        startEnding(at: now)
    }

    private mutating func startEnding(at now: Duration) {
        phase = .ending(deadline: patience.deadline(at: now, isSending: output.isPending))
    }

    // MARK: Time

    private var deadline: Duration? {
        switch phase {
        case .open: machine.deadline
        case .ending(let deadline): deadline
        case .closed: nil
        }
    }

    /// Starts a timer unless a pending timer fires at the same time or earlier. When a timer fires before the deadline,
    /// it starts the next timer. So a busy connection does not start a timer for each request.
    private mutating func setTimer(at now: Duration) {
        guard let deadline, timer.map({ deadline < $0 }) ?? true else { return }
        timer = deadline
        actions.append(.schedule(max(.zero, deadline - now)))
    }

    mutating func timerFired(at now: Duration) {
        if let timer, timer <= now { self.timer = nil }
        switch phase {
        case .open: machine.advance(to: now)
        case .ending(let deadline): if now >= deadline { disconnect(isInterrupted: output.isPending) }
        case .closed: break
        }
    }
}
