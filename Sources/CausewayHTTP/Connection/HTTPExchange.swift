internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// One request and its response. A connection reports the response's progress, and the exchange passes it on to its
/// observer.
///
/// The methods in the sections "Connection" and "Response" are called one at a time, by the thread that performs the
/// connection's actions. Any thread may call ``fail(_:)``. If another thread is then delivering an event to the
/// observer, that thread also delivers the failure afterwards.
final class HTTPExchange: Sendable {
    /// The maximum number of content bytes buffered for a reader.
    static let unreadLimit = 64 << 10

    enum Phase {
        /// The head of the final response has not arrived. Interim responses may have arrived.
        case waiting
        case body
        case ended
    }

    /// The current attempt to send the request.
    struct Attempt {
        var connection: (any HTTPConnection)?
        var isReused = false
        var began: Duration?
        /// Whether the connection may have sent part of the request.
        var wasSent = false
        /// The number of content bytes reported as sent.
        var sentCount = 0
        var retries = RetryCounts()
    }

    struct State {
        var phase = Phase.waiting
        /// The request's observer; `nil` once the request's end is reported.
        var observer: (any HTTPResponseObserver)?
        var isDelivering = false
        /// A failure that is reported when the observer has returned. It is set if the request ends while the observer
        /// handles an event.
        var failure: HTTPFailure?
        var attempt = Attempt()
        var reading = ResponseReading()
        var lastProgress: Duration
        var priority: Float
    }

    let id: UInt64
    let request: HTTPRequestValue
    let body: HTTPRequestBody
    /// Whether the observer keeps content in a buffer. If so, it calls ``took(_:at:)`` to report how much content was
    /// read from the buffer.
    private let isBuffered: Bool
    let start: Duration
    let state: LockedValue<State>

    init(
        id: UInt64, _ request: HTTPRequestValue, _ body: HTTPRequestBody, _ observer: any HTTPResponseObserver,
        isBuffered: Bool = false, at now: Duration
    ) {
        self.id = id
        self.request = request
        self.body = body
        self.isBuffered = isBuffered
        start = now
        state = LockedValue(State(observer: observer, lastProgress: now, priority: request.priority))
    }

    // MARK: Priority

    /// The current priority from 0 to 1.
    var priority: Float { state.withLock { state in state.priority } }

    /// Changes the priority. Returns the connection that must apply the new priority. Returns `nil` if no connection
    /// carries the request, or if the priority is the same as before.
    func setPriority(_ priority: Float) -> (any HTTPConnection)? {
        state.withLock { state -> (any HTTPConnection)? in
            guard state.priority != priority else { return nil }
            state.priority = priority
            return state.attempt.connection
        }
    }

    // MARK: Connection

    /// Attaches the connection for sending the request. Returns `false` if the request has already ended.
    func attach(_ connection: (any HTTPConnection)?, isReused: Bool) -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.attempt.connection = connection
            state.attempt.isReused = isReused
            return true
        }
    }

    /// Records that the connection begins to send the request. Returns `false` if the request may not be sent, because
    /// it has ended or was sent before.
    func beginSending(at now: Duration? = nil) -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.attempt.began = now
            state.attempt.wasSent = true
            return true
        }
    }

    /// Returns the free space in the reader's buffer, in content bytes.
    ///
    /// If the result is 0, the reader later calls ``HTTPConnection/readerHasRoom(_:)`` to request more content.
    func room() -> Int {
        state.withLock { state in
            let room = state.reading.room
            state.reading.isStarved = room == 0
            return room
        }
    }

    /// Counts content as buffered before ``received(_:at:)`` delivers it. Without this call, ``room()`` would be too
    /// large until the delivery.
    func reserve(_ count: Int) {
        if isBuffered { state.withLock { state in state.reading.unread += count } }
    }

    // MARK: Response

    /// Reports that no path is usable yet. The engine calls this for an exchange without a connection.
    func waits(_ reason: NWError, at now: Duration) {
        deliver(in: .waiting, at: now) { observer in observer.waits(reason) }
    }

    func informed(_ head: HTTPResponseHead, at now: Duration) {
        deliver(in: .waiting, at: now) { observer in observer.informed(head) }
    }

    /// Reports that bytes of the request content were sent.
    func sent(_ count: Int, at now: Duration) {
        let observer = state.withLock { state -> (any HTTPResponseObserver)? in
            state.lastProgress = now
            guard state.phase != .ended else { return nil }
            state.attempt.sentCount += count
            state.isDelivering = true
            return state.observer
        }
        guard let observer else { return }
        observer.sent(count)
        endDelivery()
    }

    /// Records that bytes of the request other than its content were sent.
    func progressed(at now: Duration) { state.withLock { state in state.lastProgress = now } }

    func responded(_ head: HTTPResponseHead, _ details: HTTPConnectionDetails, at now: Duration) {
        let (observer, isReused, began) = state.withLock { state -> ((any HTTPResponseObserver)?, Bool, Duration?) in
            guard state.phase == .waiting else { return (nil, false, nil) }
            state.phase = .body
            state.lastProgress = now
            state.isDelivering = true
            return (state.observer, state.attempt.isReused, state.attempt.began)
        }
        guard let observer else { return }
        observer.responded(head, HTTPConnectionInformation(isReused: isReused, began: began, details: details))
        endDelivery()
    }

    func received(_ piece: Data, at now: Duration) {
        deliver(in: .body, at: now) { observer in observer.received(piece) }
    }

    func finished(_ trailers: FieldSection) {
        let ended = end(in: .body)
        ended?.observer.ended(.success(trailers))
    }

    /// Ends the exchange with a response that arrived in one piece.
    func completed(_ head: HTTPResponseHead, _ content: Data?, _ details: HTTPConnectionDetails) {
        guard let (observer, attempt) = end(in: .waiting) else { return }
        let information = HTTPConnectionInformation(isReused: attempt.isReused, began: attempt.began, details: details)
        observer.completed(head, information, content)
    }

    /// Ends the exchange because the server has switched protocols. If the request has already ended, the stream is
    /// released, and thereby closed.
    func upgraded(_ head: HTTPResponseHead, _ details: HTTPConnectionDetails, _ stream: HTTPUpgradedStream) {
        guard let (observer, attempt) = end(in: .waiting) else { return }
        let information = HTTPConnectionInformation(isReused: attempt.isReused, began: attempt.began, details: details)
        observer.upgraded(head, information, stream)
    }

    /// Requests that the connection is handed over to the observer in the middle of the response. Has no effect after
    /// the exchange has ended.
    func handOver() {
        state.withLock { state in state.phase == .body ? state.attempt.connection : nil }?.handOver(self)
    }

    /// Passes the connection to the observer, and ends the exchange. If `stream` is `nil`, the connection cannot be
    /// handed over. The observer then gets `nil`, and the exchange continues.
    func handedOver(_ stream: HTTPUpgradedStream?, at now: Duration) {
        guard stream != nil else { return deliver(in: .body, at: now) { observer in observer.handedOver(nil) } }
        end(in: .body)?.observer.handedOver(stream)
    }

    /// Ends the exchange if it is in the phase `phase`. The result contains the connection, so that the caller releases
    /// it only after the lock is released.
    private func end(in phase: Phase) -> (observer: any HTTPResponseObserver, attempt: Attempt)? {
        state.withLock { state in
            guard state.phase == phase, let observer = state.observer.take() else { return nil }
            state.phase = .ended
            defer { state.attempt.connection = nil }
            return (observer, state.attempt)
        }
    }

    /// Ends the exchange with a failure. Returns the connection that carries the exchange, because it must abandon the
    /// exchange. Returns `nil` if no connection carries the exchange, or if the exchange had already ended.
    @discardableResult
    func fail(_ failure: HTTPFailure) -> (any HTTPConnection)? {
        let (isEnd, observer, connection) = state.withLock {
            state -> (Bool, (any HTTPResponseObserver)?, (any HTTPConnection)?) in
            guard state.phase != .ended else { return (false, nil, nil) }
            state.phase = .ended
            let connection = state.attempt.connection.take()
            guard state.isDelivering else { return (true, state.observer.take(), connection) }
            state.failure = failure
            return (true, nil, connection)
        }
        if isEnd, case .stream(let source, _) = body { source.stop() }
        observer?.ended(.failure(failure))
        return connection
    }

    private func deliver(
        in phase: Phase, at now: Duration, _ event: (any HTTPResponseObserver) -> Void
    ) {
        let observer = state.withLock { state -> (any HTTPResponseObserver)? in
            guard state.phase == phase else { return nil }
            state.lastProgress = now
            state.isDelivering = true
            return state.observer
        }
        guard let observer else { return }
        event(observer)
        endDelivery()
    }

    /// Records that the delivery of an event is over. If the request ended during the delivery, reports the request's
    /// end now.
    private func endDelivery() {
        let (observer, failure) = state.withLock { state -> ((any HTTPResponseObserver)?, HTTPFailure?) in
            state.isDelivering = false
            guard let failure = state.failure.take() else { return (nil, nil) }
            return (state.observer.take(), failure)
        }
        if let failure { observer?.ended(.failure(failure)) }
    }

    // MARK: Back-pressure

    /// Stops or resumes reading the response.
    func setReading(_ isEnabled: Bool, at now: Duration) {
        resume(at: now) { reading in
            reading.isEnabled = isEnabled
            return isEnabled
        }
    }

    /// Records that the reader took content from its buffer.
    func took(_ count: Int, at now: Duration) {
        resume(at: now) { reading in
            reading.unread -= count
            return reading.unread <= Self.unreadLimit / 2
        }
    }

    private func resume(at now: Duration, _ change: (inout ResponseReading) -> Bool) {
        let connection = state.withLock { state -> (any HTTPConnection)? in
            guard change(&state.reading), state.reading.isStarved, state.reading.room > 0 else { return nil }
            state.reading.isStarved = false
            state.lastProgress = now
            return state.attempt.connection
        }
        connection?.readerHasRoom(self)
    }

    // MARK: Sending again

    /// Returns the values for the decision about a retry; `nil` if the response has begun or the request has ended.
    func retryContext() -> RetryContext? {
        state.withLock { state in
            guard state.phase == .waiting else { return nil }
            let attempt = state.attempt
            let content: RetryContext.Content =
                switch body {
                case .none: .none
                case .data: .repeatable
                case .stream: .stream(isRead: attempt.wasSent)
                }
            return RetryContext(
                method: request.method, content: content, connection: attempt.isReused ? .reused : .new,
                wasSent: attempt.wasSent, counts: attempt.retries)
        }
    }

    /// Prepares to send the request again. Returns `false` if the request has ended.
    func beginRetry(_ occasion: RetryOccasion) -> Bool {
        let (isPossible, sentCount, observer) = state.withLock { state -> (Bool, Int, (any HTTPResponseObserver)?) in
            guard state.phase == .waiting else { return (false, 0, nil) }
            let sentCount = state.attempt.sentCount
            var retries = state.attempt.retries
            retries.count(occasion)
            state.attempt = Attempt(retries: retries)
            guard sentCount > 0 else { return (true, 0, nil) }
            state.isDelivering = true
            return (true, sentCount, state.observer)
        }
        guard let observer else { return isPossible }
        observer.sent(-sentCount)
        endDelivery()
        return true
    }
}
