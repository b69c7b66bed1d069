internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Moves bytes between a transport and an ``HTTP2Connection``, which carries many exchanges at once.
///
/// State changes happen under one lock. The resulting actions are performed in order, by one thread at a time, without the lock.
final class HTTP2ConnectionDriver: HTTPConnection {
    /// The maximum number of bytes that wait in the transport, and of each request's content bytes that wait in the
    /// HTTP/2 state machine. At this limit, the driver takes no more output from the state machine, or no more content
    /// from the program.
    static let outputLimit = 64 << 10
    /// The maximum size of one receive in bytes.
    static let inputLimit = 64 << 10

    enum Action: Sendable {
        case send(Data)
        case receive
        case pull(any HTTPBodySource, HTTP2StreamID)
        case stop(any HTTPBodySource)
        case inform(HTTPExchange, HTTPResponseHead)
        case reportSent(HTTPExchange, Int)
        case respond(HTTPExchange, HTTPResponseHead)
        case deliver(HTTPExchange, Data)
        case finish(HTTPExchange, FieldSection)
        /// Deliver the head, content and end of a response together, because the response arrived in one piece.
        case complete(HTTPExchange, HTTPResponseHead, Data?)
        case interrupt(HTTPExchange, RetryOccasion, HTTPFailure)
        case failExchange(HTTPExchange, HTTPFailure)
        case schedule(Duration)
        case reportFinished
        case reportStreamLimit(Int)
        case reportRetired
        case reportClosed
        case close(isInterrupted: Bool)
    }

    struct State: SequencedState {
        typealias Action = HTTP2ConnectionDriver.Action

        let options: HTTPConnectionOptions
        var isOpen = true
        var machine: HTTP2Connection
        var streams: [HTTP2StreamID: HTTP2ExchangeStream] = [:]
        /// The streams by exchange identifier.
        var ids: [UInt64: HTTP2StreamID] = [:]
        /// The streams that still have request content to send.
        var uploads: [HTTP2StreamID] = []
        /// The streams that the end of the connection has interrupted. Their exchanges cannot be ended yet: how they
        /// end depends on the reason, which the state machine reports later.
        var lost: [HTTP2StreamID] = []
        var link = Link()
        var line = ActionLine<Action>(keepsStorage: true)
        var actions: [Action] = []

        mutating func queueActions() -> Bool { !actions.isEmpty && line.move(&actions) }
    }

    /// The state of the transport and timers.
    struct Link {
        var isReceiving = false
        /// The number of bytes that were passed to the transport and that it has not yet reported as processed.
        var pendingCount = 0
        var error: NWError?
        /// Whether the engine closed the connection.
        var isClosing = false
        /// The last stream identifier in the server's GOAWAY frame; 0 before GOAWAY (RFC 9113 §6.8).
        var lastAcceptedID: HTTP2StreamID = 0
        /// The time at which the latest bytes arrived.
        var lastArrival: Duration = .zero
        /// If a ping is pending, the time by which the peer must have sent some bytes; otherwise `nil`.
        var pingDeadline: Duration?
        /// The time at which the earliest pending timer fires; `nil` if there is none.
        var timer: Duration?
    }

    let id: PoolConnectionID
    let transport: any HTTPTransport
    let observer: any HTTPConnectionObserver
    private let source: HTTPDetailsSource
    var details: HTTPConnectionDetails { source.details }
    private let clock: any HTTPClock
    private let state: LockedValue<State>

    /// Creates a connection over a transport that is established or sends early data.
    init(
        _ id: PoolConnectionID, _ transport: any HTTPTransport, _ options: HTTPConnectionOptions,
        _ source: HTTPDetailsSource, clock: any HTTPClock, observer: any HTTPConnectionObserver
    ) {
        self.id = id
        self.transport = transport
        self.clock = clock
        self.observer = observer
        self.source = source
        let now = clock.now
        var configuration = options.http2
        configuration.roundTrip = source.details.roundTrip
        var machine = HTTP2Connection(.client, configuration: configuration)
        machine.started(at: now)
        state = LockedValue(State(options: options, machine: machine, link: Link(lastArrival: now)))
    }

    // MARK: Requests of the engine

    func open() { transition { state, now in state.pump(at: now) } }

    func transportFailed(_ error: NWError) { transition { state, now in state.lost(error, at: now) } }

    func perform(_ exchange: HTTPExchange) { transition { state, now in state.begin(exchange, at: now) } }

    func readerHasRoom(_ exchange: HTTPExchange) { transition { state, now in state.readerHasRoom(exchange, at: now) } }

    func priorityChanged(_ exchange: HTTPExchange) {
        transition { state, now in state.reprioritize(exchange, at: now) }
    }

    func abandon(_ exchange: HTTPExchange) { transition { state, now in state.abandon(exchange, at: now) } }

    /// Has no effect: an HTTP/2 stream has no connection to hand over.
    func handOver(_ exchange: HTTPExchange) {}

    func close() { transition { state, now in state.close(at: now) } }

    // MARK: Actions

    private func transition(_ body: (inout State, Duration) -> Void) {
        let now = clock.now
        state.change { state in
            body(&state, now)
        } perform: { action in
            perform(action)
        }
    }

    private func perform(_ action: Action) {
        switch action {
        case .send(let content): send(content)
        case .receive:
            transport.receive(atMost: Self.inputLimit) { [self] arrival in
                transition { state, now in state.arrived(arrival, at: now) }
            }
        case .pull(let source, let stream):
            source.next { [self] piece in transition { state, now in state.produced(piece, stream, at: now) } }
        case .stop(let source): source.stop()
        case .inform(let exchange, let head): exchange.informed(head, at: clock.now)
        case .reportSent(let exchange, let count): exchange.sent(count, at: clock.now)
        case .respond(let exchange, let head): exchange.responded(head, details, at: clock.now)
        case .deliver(let exchange, let piece): exchange.received(piece, at: clock.now)
        case .finish(let exchange, let trailers):
            observer.completed(exchange)
            exchange.finished(trailers)
        case .complete(let exchange, let head, let content):
            observer.completed(exchange)
            exchange.completed(head, content, details)
        case .interrupt(let exchange, let occasion, let failure): observer.interrupted(exchange, occasion, failure)
        case .failExchange(let exchange, let failure): observer.failed(exchange, failure)
        case .schedule(let due): schedule(due)
        case .reportFinished: observer.finished(id, isReusable: true, KeepAlive(FieldSection()))
        case .reportStreamLimit(let limit): observer.streamLimitChanged(id, to: limit)
        case .reportRetired: observer.retired(id)
        case .reportClosed: observer.closed(id)
        case .close(let isInterrupted): transport.close(isInterrupted: isInterrupted)
        }
    }

    private func send(_ content: Data) {
        let count = content.count
        transport.send(content) { [self] error in transition { state, now in state.sent(count, error, at: now) } }
    }

    private func schedule(_ due: Duration) {
        clock.schedule(after: max(.zero, due - clock.now)) { [weak self] in
            self?.transition { state, now in state.advance(due, to: now) }
        }
    }
}
