internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Moves bytes between a transport and an ``HTTP1Client``.
///
/// State changes happen under one lock. The driver then performs the resulting actions in order, on one thread at a
/// time, without the lock. An action may call a completion, which may cause further actions. These are queued and
/// performed later, so completions do not recurse.
final class HTTP1ConnectionDriver: HTTPConnection {
    /// The number of unsent bytes at which the driver stops requesting content from the source.
    static let outputLimit = 64 << 10

    enum Action: Sendable {
        case send(Data)
        case receive(Int)
        case pull(any HTTPBodySource, HTTPExchange)
        case stop(any HTTPBodySource)
        case inform(HTTPExchange, HTTPResponseHead)
        case reportSent(HTTPExchange, Int)
        case respond(HTTPExchange, HTTPResponseHead)
        case deliver(HTTPExchange, Data)
        case finish(HTTPExchange, FieldSection)
        /// Deliver the head, content and end of a response together, because the response arrived in one piece.
        case complete(HTTPExchange, HTTPResponseHead, Data?)
        /// Hand over the transport to the request's observer. Also pass the bytes that have arrived after the response
        /// head.
        case handOver(HTTPExchange, HTTPResponseHead, Data)
        /// Hand over the transport to the request's observer in the middle of a response. From then on, the observer
        /// uses the stream to read and write the transport. If the stream is `nil`, the handover is not possible.
        case handOverRest(HTTPExchange, HTTPUpgradedStream?)
        case passArrival(HTTPArrival, HTTPUpgradedStream)
        case interrupt(HTTPExchange, RetryOccasion, HTTPFailure)
        case failExchange(HTTPExchange, HTTPFailure)
        case schedule(Duration)
        case reportFinished(isReusable: Bool, KeepAlive)
        case reportClosed
        case close(isInterrupted: Bool)
    }

    struct State: SequencedState {
        typealias Action = HTTP1ConnectionDriver.Action

        var isOpen = true
        var machine: HTTP1Client
        var exchange: HTTPExchange?
        /// The source of the current request's content; `nil` after its end.
        var source: (any HTTPBodySource)?
        var isPulling = false
        var isReceiving = false
        /// The stream that took over the transport while a receive call was pending. The result of this call is passed
        /// to the stream.
        var successor: HTTPUpgradedStream?
        /// The number of bytes that were passed to the transport and are not yet reported as processed.
        var pendingCount = 0
        var content = SentContent()
        var error: NWError?
        var line = ActionLine<Action>(keepsStorage: true)
        var actions: [Action] = []

        mutating func queueActions() -> Bool { !actions.isEmpty && line.move(&actions) }
    }

    /// Counts two numbers of content bytes for the current request: bytes that were passed on for sending, and bytes
    /// that were reported as sent.
    struct SentContent {
        /// The number of content bytes passed to the HTTP/1.1 state machine.
        var given = 0
        /// The number of content bytes reported as sent.
        var reported = 0

        /// Returns the number of content bytes sent since the previous call. `unsent` is the number of bytes that the
        /// connection has not sent yet.
        mutating func advance(unsent: Int) -> Int {
            let count = max(0, given - unsent - reported)
            reported += count
            return count
        }
    }

    let id: PoolConnectionID
    let transport: any HTTPTransport
    let observer: any HTTPConnectionObserver
    private let source: HTTPDetailsSource
    var details: HTTPConnectionDetails { source.details }
    /// Prepares requests for a forwarding proxy; `nil` for a direct connection and for a tunnel.
    private let forwarder: RequestForwarder?
    private let clock: any HTTPClock
    private let state: LockedValue<State>

    /// Creates a connection over a transport that is established or sends early data.
    init(
        _ id: PoolConnectionID, _ transport: any HTTPTransport, _ configuration: HTTP1Client.Configuration,
        _ source: HTTPDetailsSource, _ forwarder: RequestForwarder? = nil, clock: any HTTPClock,
        observer: any HTTPConnectionObserver
    ) {
        self.id = id
        self.transport = transport
        self.source = source
        self.forwarder = forwarder
        self.clock = clock
        self.observer = observer
        state = LockedValue(State(machine: HTTP1Client(configuration: configuration)))
    }

    // MARK: Requests of the engine

    func open() { transition { state in state.pump() } }

    func transportFailed(_ error: NWError) { transition { state in state.lost(error) } }

    func perform(_ exchange: HTTPExchange) {
        let now = clock.now
        transition { state in state.begin(exchange, forwarder, at: now) }
    }

    func readerHasRoom(_ exchange: HTTPExchange) {
        transition { state in if state.exchange === exchange { state.pump() } }
    }

    /// Does nothing. An HTTP/1.1 connection carries only one request at a time, so a priority is useless.
    func priorityChanged(_ exchange: HTTPExchange) {}

    func abandon(_ exchange: HTTPExchange) {
        transition { state in
            guard state.exchange === exchange else { return }
            state.machine.abort()
            state.pump()
        }
    }

    func handOver(_ exchange: HTTPExchange) {
        transition { state in if state.exchange === exchange { state.handOverRest(transport) } }
    }

    func close() {
        transition { state in state.close(isInterrupted: state.exchange != nil) }
    }

    // MARK: Actions

    private func transition(_ body: (inout State) -> Void) {
        state.change(body) { action in perform(action) }
    }

    private func perform(_ action: Action) {
        switch action {
        case .send(let content): send(content)
        case .receive(let limit):
            transport.receive(atMost: limit) { [self] arrival in transition { state in state.arrived(arrival) } }
        case .pull(let source, let exchange):
            source.next { [self] piece in transition { state in state.produced(piece, exchange) } }
        case .stop(let source): source.stop()
        case .inform(let exchange, let head): exchange.informed(head, at: clock.now)
        case .reportSent(let exchange, let count): exchange.sent(count, at: clock.now)
        case .respond(let exchange, let head):
            note(head, of: exchange)
            exchange.responded(head, details, at: clock.now)
        case .deliver(let exchange, let piece): exchange.received(piece, at: clock.now)
        case .finish(let exchange, let trailers):
            observer.completed(exchange)
            exchange.finished(trailers)
        case .complete(let exchange, let head, let content):
            note(head, of: exchange)
            observer.completed(exchange)
            exchange.completed(head, content, details)
        case .handOver(let exchange, let head, let rest):
            observer.completed(exchange)
            exchange.upgraded(head, details, HTTPUpgradedStream(transport, HTTPArrival(content: rest)))
        case .handOverRest(let exchange, let stream):
            if stream != nil { observer.completed(exchange) }
            exchange.handedOver(stream, at: clock.now)
        case .passArrival(let arrival, let stream): stream.arrived(arrival)
        case .interrupt(let exchange, let occasion, let failure): observer.interrupted(exchange, occasion, failure)
        case .failExchange(let exchange, let failure): observer.failed(exchange, failure)
        case .schedule(let delay):
            clock.schedule(after: delay) { [weak self] in self?.advance() }
        case .reportFinished(let isReusable, let keepAlive): observer.finished(id, isReusable: isReusable, keepAlive)
        case .reportClosed: observer.closed(id)
        case .close(let isInterrupted): transport.close(isInterrupted: isInterrupted)
        }
    }

    /// Processes a response from a forwarding proxy before the request's observer receives the response.
    private func note(_ head: HTTPResponseHead, of exchange: HTTPExchange) {
        guard let forwarder, !forwarder.isReusable(after: head, to: exchange.request.origin) else { return }
        observer.retired(id)
    }

    private func send(_ content: Data) {
        let count = content.count
        transport.send(content) { [self] error in
            transition { state in state.sent(count, error) { clock.now } }
        }
    }

    /// Sends a request body that still waits for status 100 (`Expect: 100-continue`). Called when the maximum wait has
    /// ended.
    private func advance() {
        let now = clock.now
        transition { state in
            state.machine.advance(to: now)
            state.pump()
        }
    }
}
