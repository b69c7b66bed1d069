internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The state of a load over HTTP: a ``LoadMachine``, and the values that change together with it.
///
/// A method either reports an event or returns a part of the state. The loader calls the methods while it holds a lock.
/// After it has released the lock, it does the work that the methods have returned. An event that arrives too late,
/// because the load has ended or continues in another way, changes nothing. Only the metrics read a clock.
struct LoadState: Sendable {
    /// How far the handover of the load's connection to a stream task has progressed.
    private enum HandOver: Sendable {
        case none
        /// The stream task has requested the connection. The closure receives the connection, or `nil` if the load ends
        /// without a handover.
        case requested(@Sendable (HTTPUpgradedStream?) -> Void)
        /// A handover is no longer possible. Either the end of the load was reported, or a stored response answers the
        /// request.
        case over
    }

    private var machine = LoadMachine()
    private var exchange = LoadExchange()
    private var content = LoadContent()
    private var access = LoadAccess()
    /// The loader that delivers a stored response; `nil` if there is none.
    private var replay: DataLoader?
    /// The metrics of the current request. `nil` if the task collects no metrics.
    private var record: TransactionRecord?
    /// Authentication challenges from the connection that still need an answer.
    private var challenges: [ChallengeOnce] = []
    private var handOver = HandOver.none

    init(record: TransactionRecord? = nil) { self.record = record }

    // MARK: Questions

    var hasEnded: Bool { machine.hasEnded }
    /// The handle that controls the request; `nil` when the response can no longer be stopped.
    var handle: HTTPRequestHandle? { exchange.handle }
    var origin: HTTPOrigin { exchange.origin }
    /// The exchange's response; `nil` before its head, and after the load has ended.
    var response: HTTPURLResponse? { exchange.response }
    /// The response that waits for the decision whether another request follows it. `nil` if no response waits.
    var undecidedResponse: HTTPURLResponse? { machine.isDeciding ? exchange.response : nil }
    /// Whether the connection of the response that is held back carried an earlier request.
    var isReused: Bool { exchange.isReused }
    /// The complete content of the response that is held back. `nil` while more content can arrive.
    var completeHeldContent: [Data]? { machine.isHeldResponseOver ? content.held : nil }
    /// Whether the content is `multipart/x-mixed-replace`, whose parts replace each other.
    var hasParts: Bool { content.parts != nil }

    /// The origin and the start time of an exchange that uses a proxy; `nil` for other exchanges.
    var proxyUse: (origin: HTTPOrigin, start: Duration)? { exchange.proxyStart.map { (exchange.origin, $0) } }

    /// Why the exchange failed without a response.
    var exchangeFailure: HTTPFailure {
        // The connection was lost between two messages of an authentication handshake.
        if access.bound?.handshake.isUnderWay == true { return .noResponse(nil) }
        return exchange.failure ?? .noResponse(nil)
    }

    /// The objects to notify when the task wants more or less content than before.
    var demandTargets: (decoder: DecodedContent?, body: (any HTTPBodySource)?, replay: DataLoader?) {
        (content.decoder, exchange.body, replay)
    }

    mutating func withAccess<Result>(_ body: (inout LoadAccess) -> Result) -> Result { body(&access) }

    // MARK: Requests

    /// Reports that the request is ready to be sent.
    ///
    /// - Parameter proxyStart: The current time if the exchange uses a proxy; otherwise `nil`.
    mutating func requestPrepared(
        _ value: HTTPRequestValue, _ body: HTTPRequestBody, _ engine: HTTPEngine, proxyStart: Duration? = nil
    ) -> Preparation {
        guard !machine.hasEnded else { return .unwanted }
        if let bound = access.bound, bound.lease == nil { return .lease(bound.owner) }
        guard case .send = machine.requestPrepared() else { return .unwanted }
        exchange = LoadExchange(value, body, engine, proxyStart: proxyStart)
        record?.note(value, body)
        return .start
    }

    /// Stores the handle of the request that the engine has started. If the load has already ended, stores nothing. The
    /// caller must then cancel the request.
    mutating func exchangeStarted(_ handle: HTTPRequestHandle) { if !machine.hasEnded { exchange.started(handle) } }

    /// Stores the right to use connections of a credential (a lease), and returns the connections that the next request
    /// must use. If the load has ended, stores nothing and returns `nil`.
    mutating func leaseAcquired(_ lease: BoundLease) -> ConnectionBinding? {
        guard !machine.hasEnded else { return nil }
        access.bound?.lease = lease
        return access.bound?.binding
    }

    /// Ends the metrics of the previous exchange, and begins the metrics of the next one.
    ///
    /// - Returns: The metrics of the previous exchange, and whether the next request carries the first message of an
    ///   authentication with several messages. `nil` if the load has ended.
    mutating func transactionEnded(_ request: URLRequest) -> (record: TransactionRecord?, isOpening: Bool)? {
        guard !machine.hasEnded else { return nil }
        let ended = transactionMeasured()
        if record != nil { record = TransactionRecord(loading: request) }
        content.dropHeld()
        return (ended, access.bound?.handshake.isOpening == true)
    }

    /// Returns the metrics so far; `nil` if the task is not measured.
    mutating func transactionMeasured() -> TransactionRecord? {
        record?.dates.response.end = Date()
        return record
    }

    // MARK: Connectivity and request content

    mutating func pathLost() -> Step { Step(machine.pathLost()) }

    mutating func pathFound() -> Step { Step(machine.pathFound()) }

    mutating func contentSent(_ count: Int) -> Step {
        record?.noteSent(count)
        return pathFound()
    }

    /// Refuses an exchange's wait for connectivity.
    ///
    /// Returns the handle with which the caller cancels the request; `nil` if the exchange has ended.
    mutating func waitRefused(_ reason: HTTPFailure) -> HTTPRequestHandle? {
        guard let handle = exchange.handle else { return nil }
        exchange.refused(reason)
        return handle
    }

    // MARK: Responses

    /// Reports that the head of a final response has arrived.
    ///
    /// - Parameter parts: The decoder for `multipart/x-mixed-replace` content, whose parts replace each other; `nil`
    ///   for other content.
    mutating func headArrived(
        _ head: HTTPResponseHead, _ response: HTTPURLResponse, _ connection: HTTPConnectionInformation,
        _ verdict: LoadMachine.Verdict, parts: ReplacingParts? = nil
    ) -> Arrival {
        let (path, action) = (machine.pathFound(), machine.headArrived(verdict))
        var arrival = Arrival(action: action, path: path)
        if case .none = action { return arrival }
        if case .hold = action { exchange.held(isReused: connection.isReused) }
        if case .deliver = action, let parts { content.partsFound(parts) }
        if action != .discard { exchange.responded(response) }
        record?.note(head, response, connection)
        if access.bound != nil { access.bound?.handshake.responded(on: connection.details.id) }
        // The content of a discarded response is not needed, so cancel the request. A 304 response has no content, and
        // its request ends without a cancellation.
        if action == .discard, head.status != 304 { arrival.end.handle = exchange.takeHandle() }
        arrival.end.secureOrigin = exchange.secureOrigin
        arrival.usesCredential = !access.isUnused
        return arrival
    }

    /// Reports that the server has switched the protocol.
    ///
    /// - Returns: The next step, and the key from the request's WebSocket handshake (empty for other protocols). If the
    ///   load does not wait for a response head, the key is `nil`, and the caller must ignore the switch.
    mutating func protocolSwitched(
        _ head: HTTPResponseHead, _ response: HTTPURLResponse, _ connection: HTTPConnectionInformation
    ) -> (path: Step, key: String?) {
        let path = pathFound()
        guard case .deliver = machine.headArrived(.deliver) else { return (path, nil) }
        record?.note(head, response, connection)
        return (path, exchange.upgradeKey)
    }

    /// Reports content that has arrived. If the content cannot be delivered now, this call stores it. Later content
    /// then cannot overtake it.
    ///
    /// - Returns: The destination, if the content is delivered now; otherwise the action to perform.
    mutating func contentArrived(_ piece: Data) -> (destination: LoadContent.Destination?, action: LoadMachine.Action) {
        record?.counts.responseBody += Int64(piece.count)
        let action = machine.contentArrived(piece.count)
        guard case .deliver = action else {
            if action != .none { content.hold(piece) }
            return (nil, action)
        }
        return (content.destination(of: piece, in: exchange.response), action)
    }

    mutating func exchangeEnded(_ result: Result<FieldSection, HTTPFailure>) -> Step {
        guard case .failure(let reason) = result else {
            exchange.over()
            return Step(machine.exchangeEnded(isComplete: true))
        }
        exchange.over(reason)
        return Step(machine.exchangeEnded(isComplete: false))
    }

    // MARK: Delivery

    /// Removes and returns the content that was held back. If no content was held back, later content is delivered
    /// directly, and `step` is the load's next step.
    mutating func heldContentTaken() -> (pieces: [Data], step: Step) {
        guard content.held.isEmpty else { return (content.takeHeld(), Step(.none)) }
        return ([], Step(machine.heldContentTaken()))
    }

    /// Returns where to deliver a piece of content that was held back.
    func destination(ofHeld piece: Data, in response: HTTPURLResponse) -> LoadContent.Destination {
        content.destination(of: piece, in: response)
    }

    mutating func decoderMade(_ decoder: DecodedContent) { content.decoderMade(decoder) }

    /// Reports that all content has arrived. The load ends unless content is still to be decoded.
    mutating func contentFinished() -> (decoder: DecodedContent?, conclusion: Conclusion?) {
        if let decoder = content.decoder { return (decoder, nil) }
        return (nil, concluded())
    }

    /// Reports whether the task wants content.
    ///
    /// - Parameter applied: Whether the caller's latest change made the connection read; `nil` if the caller has not
    ///   changed this yet.
    /// - Returns: The request's handle, and whether the connection must read; `nil` if nothing changes. The caller
    ///   applies the result and calls again until it is `nil`, because another thread can change the demand at the same
    ///   time.
    mutating func demandChanged(wantsBytes: Bool, applied: Bool?) -> (handle: HTTPRequestHandle, reads: Bool)? {
        guard let handle = exchange.handle else { return nil }
        let isWanted = wantsBytes && !content.hasBacklog
        if case .read(let reads) = machine.demandChanged(isWanted: isWanted) { return (handle, reads) }
        guard let applied, applied != machine.isReading else { return nil }
        return (handle, machine.isReading)
    }

    // MARK: Decisions

    mutating func asked() -> LoadMachine.Question? { machine.asked() }

    mutating func answered(_ question: LoadMachine.Question) -> Bool { machine.answered(question) }

    /// Reports the decision to repeat the request.
    ///
    /// Also takes the handle of the ended request. A later call could take the handle of the next exchange instead.
    mutating func repetitionChosen() -> Step {
        let action = machine.repetitionChosen()
        return Step(action, LoadExchange.End(handle: action == .cancelExchange ? exchange.takeHandle() : nil))
    }

    /// Reports that no further request follows. So the response that was held back is delivered.
    mutating func deliveryChosen() -> Step { Step(machine.deliveryChosen()) }

    /// Reports that an exchange failed, but that its request can be sent again with a credential. The load receives no
    /// connection challenges until its next exchange.
    mutating func recoveryFound() -> Step {
        Step(machine.recoveryFound(), LoadExchange.End(secureOrigin: exchange.secureOrigin))
    }

    /// Reports that the connection closed between two messages of an authentication.
    ///
    /// - Returns: The negotiation to restart, and the next step. Returns `nil` if the exchange failed for another
    ///   reason, or has failed too often.
    mutating func handshakeBroke() -> (negotiation: LoadAccess.Negotiation, step: Step)? {
        guard let negotiation = access.negotiation, access.bound?.handshake.exchangeFailed() == true else { return nil }
        let step = recoveryFound()
        guard case .decide = step.action else { return nil }
        return (negotiation, step)
    }

    // MARK: Stored responses

    /// Records that a stored response answers the request. Returns the values to release. Returns `nil` if the load can
    /// no longer use the response.
    mutating func storedResponseFound(_ replay: DataLoader) -> End? {
        guard let released = end(machine.storedResponseFound()) else { return nil }
        self.replay = replay
        // A stored response has no connection, so a stream task cannot take one over. `replay` delivers the response,
        // so the HTTP loader reports no further events.
        handOver = .over
        return released
    }

    /// Reports a redirect response that was found in the cache. Returns `false` if this report comes too late.
    ///
    /// The response is held back until the decision whether to follow the redirect. A redirect from the server is held
    /// back in the same way.
    mutating func storedRedirectFound(_ response: HTTPURLResponse, _ data: Data) -> Bool {
        guard case .decide = machine.storedRedirectFound() else { return false }
        exchange.responded(response)
        content.dropHeld()
        if !data.isEmpty { content.hold(data) }
        record?.fetchType = .localCache
        record?.response = response
        return true
    }

    // MARK: Uploads

    /// Reports a response during an upload. The upload makes its decision while the load's lock is held, so that the
    /// decision agrees with the load's next step.
    mutating func uploadAnswered(
        _ head: HTTPResponseHead, _ upload: RunningUpload
    ) -> (answer: RunningUpload.Step, step: Step) {
        guard machine.isAwaitingHead else { return (.deliver, Step(.none)) }
        let answer = upload.answered(head)
        switch answer {
        case .deliver, .fail: return (answer, Step(.none))
        case .send(let delay): return (answer, interrupted(for: delay))
        // This exchange ends now. Until the next exchange begins, the load gets no connection challenges.
        case .sendAgain:
            let end = LoadExchange.End(secureOrigin: exchange.secureOrigin)
            return (answer, Step(machine.headArrived(.sendAgain), end))
        }
    }

    /// Reports that the connection broke during an upload. The upload may continue after a pause.
    mutating func uploadBroke(_ upload: RunningUpload) -> Step {
        guard !machine.hasEnded, let delay = upload.connectionBroke() else { return Step(.none) }
        return interrupted(for: delay)
    }

    /// Ends the exchange because the upload was interrupted. The upload waits for `delay` before it sends its next
    /// request.
    private mutating func interrupted(for delay: Duration) -> Step {
        let action = machine.uploadInterrupted(for: delay)
        guard case .pause = action else { return Step(action) }
        return Step(action, exchange.end())
    }

    mutating func pauseElapsed() -> Step { Step(machine.pauseElapsed()) }

    // MARK: Connection challenges

    /// Stores a challenge from the connection for which the load waits. If the load is not waiting for a connection,
    /// stores nothing and returns `false`.
    mutating func challengeArrived(_ challenge: ChallengeOnce) -> Bool {
        guard machine.isAwaitingHead else { return false }
        challenges.append(challenge)
        return true
    }

    mutating func challengeAnswered(_ challenge: ChallengeOnce) { challenges.removeAll { $0 === challenge } }

    // MARK: The end

    /// Records that the task has stopped the load. `end` in the result is `nil` if the load had ended earlier.
    mutating func stopped() -> (end: End?, challenges: [ChallengeOnce], replay: DataLoader?) {
        (end(machine.loadEnded()), challenges, replay.take())
    }

    /// Ends the load with a response that arrived in one piece. Returns the load's final values; `nil` if the load had
    /// already ended.
    mutating func wholeResponseArrived(_ count: Int) -> Conclusion? {
        exchange.over()
        record?.counts.responseBody += Int64(count)
        guard var conclusion = concluded() else { return nil }
        // The load stopped receiving connection challenges when the response head arrived. The caller therefore need
        // not remove the load from the receivers of challenges.
        conclusion.end.exchange.secureOrigin = nil
        handOver = .over
        return conclusion
    }

    /// Ends the load. Returns its final values; `nil` if it had already ended.
    mutating func concluded() -> Conclusion? {
        end(machine.loadEnded()).map { Conclusion(end: $0, record: record) }
    }

    private mutating func end(_ action: LoadMachine.Action) -> End? {
        guard case .end = action else { return nil }
        if record?.response != nil { record?.dates.response.end = Date() }
        if let decoder = content.decoder { record?.counts.responseBodyAfterDecoding += decoder.deliveredCount }
        content.end()
        var end = End(exchange: exchange.end())
        if access.bound != nil { end.bound = access.bound.take() }
        return end
    }

    // MARK: Handover

    /// Requests the connection itself before the response has ended.
    ///
    /// - Returns: Two values: whether the completion will be called, and the handle of the request. With the handle,
    ///   the caller requests the connection from the engine. If there is no handle, another thread is about to report
    ///   the end of the load, and that thread calls the completion.
    mutating func handOverRequested(
        _ completion: @escaping @Sendable (HTTPUpgradedStream?) -> Void
    ) -> (isAccepted: Bool, handle: HTTPRequestHandle?) {
        if case .over = handOver { return (false, nil) }
        guard machine.permitsHandOver else { return (false, nil) }
        handOver = .requested(completion)
        return (true, exchange.handle)
    }

    /// Ends the handover of the load's connection. Called after the end of the load was reported.
    ///
    /// Returns the handover's completion; `nil` if no handover was requested.
    mutating func handOverEnded() -> (@Sendable (HTTPUpgradedStream?) -> Void)? {
        defer { handOver = .over }
        guard case .requested(let completion) = handOver else { return nil }
        return completion
    }
}
