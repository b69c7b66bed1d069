import CausewayProtocols
internal import CausewayWire

/// The HTTP/2 state of a server connection.
struct HTTP2Serving: Sendable {
    typealias RequestID = HTTPServerConnection.RequestID

    /// The number of queued bytes at which the server stops reading. Only frames without content count, such as
    /// acknowledgments.
    private static let controlLimit = 64 << 10

    private var machine: HTTP2Connection
    private var requests: [RequestID: HTTP2ServedRequest] = [:]
    /// The number of requests for which ``HTTP2ServedRequest/awaitsContent`` is true.
    private var awaitingCount = 0
    /// The number of requests whose response content is blocked by the client's flow-control windows.
    private var queuedCount = 0
    /// Requests whose response is complete, but whose content has not arrived completely. Each is closed when its
    /// response has been sent.
    private var finished: [RequestID] = []
    /// Whether the final event of ``machine`` was handled. The connection then ends when the program has finished all
    /// requests.
    private var isEnding = false
    /// The number of content bytes that were passed to the transport and that the transport has not accepted yet.
    private var contentCount = 0
    /// The number of content bytes that have arrived since the last call of ``takeArrivedCount()``.
    private var arrivedCount = 0

    init(_ limits: HTTPServerLimits) {
        var configuration = HTTP2Configuration()
        configuration.settings.maxConcurrentStreams = limits.concurrentRequestCount
        configuration.settings.initialWindowSize = limits.unreadByteCount
        configuration.maximumStreamWindow = limits.unreadByteCount
        configuration.settings.maxHeaderListSize = limits.headByteCount
        configuration.settings.enablesConnectProtocol = true
        configuration.maximumFieldCount = limits.fieldCount
        configuration.connectionWindow = min(limits.unreadByteCount * 16, 16 << 20)
        machine = HTTP2Connection(.server, configuration: configuration)
    }

    var wantsInput: Bool { machine.controlByteCount < Self.controlLimit }
    /// Whether no request is open.
    var isEmpty: Bool { requests.isEmpty }
    /// Whether the server waits for request content that the client may send now. A client may send content while the
    /// connection's flow-control window is above zero. The window can be used up by content that the program has not
    /// consumed.
    var awaitsContent: Bool { awaitingCount > 0 && machine.receiveWindow > 0 }
    /// Whether any response is blocked by the client's flow-control windows.
    var hasQueuedContent: Bool { queuedCount > 0 }
    /// The next time at which ``advance(at:)`` has work to do.
    var earliestDeadline: Duration? { machine.deadline }

    func contains(_ id: RequestID) -> Bool { requests[id] != nil }
    func queuedByteCount(of id: RequestID) -> Int { machine.queuedByteCount(of: id) }

    mutating func started(at now: Duration) { machine.started(at: now) }

    /// Starts the timeouts for requests whose remaining content is discarded.
    mutating func settle(at now: Duration) { machine.settle(at: now) }

    mutating func advance(at now: Duration) { machine.advance(to: now) }

    // MARK: Requests

    private mutating func insert(_ id: RequestID, _ request: HTTP2ServedRequest) {
        requests[id] = request
        count(request, by: 1)
    }

    /// Applies a closure to an open request. Also updates ``awaitingCount`` and ``queuedCount``. Returns the closure's
    /// result; `nil` if the request is closed.
    @discardableResult
    private mutating func update<Result>(_ id: RequestID, _ body: (inout HTTP2ServedRequest) -> Result) -> Result? {
        guard let old = requests[id] else { return nil }
        var new = old
        let result = body(&new)
        requests[id] = new
        count(old, by: -1)
        count(new, by: 1)
        return result
    }

    /// Removes a request. Its unread content then counts as consumed.
    ///
    /// So the client gets credit in the connection's window, which all requests share. If the program later reads
    /// content of the removed request, this gives no further credit.
    @discardableResult
    private mutating func remove(_ id: RequestID) -> HTTP2ServedRequest? {
        guard let request = requests.removeValue(forKey: id) else { return nil }
        count(request, by: -1)
        machine.took(request.unread, of: id)
        return request
    }

    private mutating func count(_ request: HTTP2ServedRequest, by step: Int) {
        if request.awaitsContent { awaitingCount += step }
        if request.hasQueuedContent { queuedCount += step }
    }
}

// MARK: - Receiving

extension HTTP2Serving {
    mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) { machine.received(bytes, at: now) }

    /// Records that the client has closed its sending direction.
    mutating func inputEnded() { machine.inputEnded() }

    /// Handles the HTTP/2 connection's events until one of them must be reported, or none is left.
    mutating func read(_ admission: inout HTTPServerAdmission, _ events: inout HTTPServerEventQueue) {
        while events.isEmpty, let event = machine.nextEvent() { handle(event, &admission, &events) }
    }

    private mutating func handle(
        _ event: HTTP2Connection.Event, _ admission: inout HTTPServerAdmission, _ events: inout HTTPServerEventQueue
    ) {
        switch event {
        case .request(let id, let head, let endsStream):
            requested(id, head, endsStream: endsStream, &admission, &events)
        case .content(let id, let bytes, let endsStream):
            arrived(id, bytes, limit: admission.limits.contentByteCount, &events)
            if endsStream { requestEnded(id, FieldSection(), &events) }
        case .trailers(let id, let fields): requestEnded(id, fields, &events)
        case .closed(let id, let failure): closed(id, failure, &events)
        case .ended(let failure):
            // All streams are closed. If the connection was interrupted, report its end now. Otherwise, some requests
            // may still be open. In that case, report the end when the program has finished them.
            isEnding = true
            let isInterrupted = failure == .aborted || failure == .endedEarly
            if isInterrupted || requests.isEmpty { end(isInterrupted: isInterrupted, &events) }
        case .drained(let id): update(id) { $0.drained() }
        case .settings, .pingAnswered, .goAway, .informational, .response: break
        }
    }

    private mutating func requested(
        _ id: RequestID, _ head: HTTP2RequestHead, endsStream: Bool, _ admission: inout HTTPServerAdmission,
        _ events: inout HTTPServerEventQueue
    ) {
        let awaitsContinue = !endsStream && head.fields.hasElement("100-continue", in: "expect")
        insert(id, HTTP2ServedRequest(HTTP2MethodKind(head), awaitsContinue: awaitsContinue))
        if admission.requested() { machine.finishAccepting() }
        // A CONNECT request has no content (RFC 9110 §9.3.6). Ignore its `content-length` field, which
        // ``HTTP2Connection`` has not checked.
        let announced = head.isConnect ? nil : try? head.fields.contentLength?.get()
        let contentLength = endsStream ? 0 : announced
        let plain = HTTPRequestHead(
            method: head.method, target: head.path, version: .http2, fields: head.fields)
        if let status = admission.refusal(plain, head.isConnect ? 0 : contentLength) {
            return refuse(id, status, endsStream: endsStream)
        }
        events.append(
            .requested(
                id,
                HTTPServerRequestHead(
                    method: head.method, target: head.isConnect && head.path.isEmpty ? head.authority ?? "" : head.path,
                    authority: head.authority ?? head.fields.firstValue(of: "host"), version: .http2,
                    protocolName: head.protocolName, fields: head.fields, contentLength: contentLength,
                    hasContent: !endsStream)))
        if endsStream { update(id) { $0.ended() } }
    }

    /// Responds to a request with an error status. The program does not learn of this request.
    private mutating func refuse(_ id: RequestID, _ status: Int, endsStream: Bool) {
        remove(id)
        try? machine.respond(id, HTTP2ResponseHead(status: status), endsStream: true)
        if !endsStream { machine.discardRequest(id) }
    }

    /// Reports the content of a request up to ``HTTPServerLimits/contentByteCount`` bytes. If a piece of input exceeds
    /// this limit, the bytes before the limit are still reported. So the number of reported bytes does not depend on
    /// how the input is split. Tunnel bytes have no limit.
    private mutating func arrived(
        _ id: RequestID, _ bytes: ArraySlice<UInt8>, limit: Int, _ events: inout HTTPServerEventQueue
    ) {
        guard !bytes.isEmpty else { return }
        arrivedCount += bytes.count
        let (delivered, isTooLong) = update(id) { $0.arrived(bytes, limit: limit) } ?? (bytes.prefix(0), false)
        machine.took(bytes.count - delivered.count, of: id)
        if !delivered.isEmpty { events.append(.content(id, delivered)) }
        if isTooLong { events.append(.refusedContent(id)) }
    }

    /// Returns the number of content bytes that arrived since the previous call. Only these bytes count as progress of
    /// the client. If all bytes counted, a client that sends PING frames instead of content could stay connected for
    /// ever.
    mutating func takeArrivedCount() -> Int {
        defer { arrivedCount = 0 }
        return arrivedCount
    }

    private mutating func requestEnded(
        _ id: RequestID, _ trailers: FieldSection, _ events: inout HTTPServerEventQueue
    ) {
        guard update(id, { $0.ended() }) == true else { return }
        events.append(.finished(id, trailers: trailers))
    }

    private mutating func closed(
        _ id: RequestID, _ failure: HTTP2StreamFailure?, _ events: inout HTTPServerEventQueue
    ) {
        if failure == nil, update(id, { $0.closed() }) == true { return }
        let request = remove(id)
        finished.removeAll { $0 == id }
        if let request { events.append(.closed(id, isComplete: failure == nil || request.isComplete)) }
    }
}

// MARK: - Sending

extension HTTP2Serving {
    mutating func inform(_ id: RequestID, _ status: Int, _ fields: FieldSection) throws(HTTP2Refusal) {
        try machine.respond(id, HTTP2ResponseHead(status: status, fields: fields), endsStream: false)
    }

    /// Sends 100 (Continue) if the client waits for it before sending content.
    mutating func requestContent(_ id: RequestID) {
        guard update(id, { $0.requestedContent() }) == true else { return }
        try? inform(id, 100, FieldSection())
    }

    mutating func respond(
        _ id: RequestID, _ status: Int, _ fields: FieldSection, _ content: HTTPServerContent
    ) throws(HTTP2Refusal) {
        let method = requests[id]?.method
        let opensTunnel = method == .connect && status < 300
        var fields = fields
        // A response that opens a tunnel has no length (RFC 9110 §8.6).
        if case .length(let count) = content, !fields.contains("content-length"), status != 204, !opensTunnel {
            fields.append("content-length", String(count))
        }
        let hasNoContent = content == .none || status == 204 || status == 304 || method == .head
        try machine.respond(id, HTTP2ResponseHead(status: status, fields: fields), endsStream: hasNoContent)
        update(id) { $0.responded(hasContent: !hasNoContent, opensTunnel: opensTunnel) }
    }

    /// Switches the stream of an extended CONNECT request to another protocol.
    mutating func upgrade(_ id: RequestID, _ fields: FieldSection) throws(HTTP2Refusal) {
        try machine.respond(id, HTTP2ResponseHead(status: 200, fields: fields), endsStream: false)
        update(id) { $0.upgraded() }
    }

    /// Sends response content or tunnel bytes.
    mutating func send(_ id: RequestID, _ bytes: ByteChain) throws(HTTP2Refusal) {
        guard requests[id]?.discardsResponse != true else { return }
        try machine.send(id, bytes)
        update(id) { $0.queued() }
    }

    /// Ends the response.
    mutating func finish(_ id: RequestID, _ trailers: FieldSection) throws(HTTP2Refusal) {
        guard requests[id]?.discardsResponse != true else { return }
        if trailers.isEmpty {
            try machine.send(id, ByteChain(), endsStream: true)
        } else {
            try machine.sendTrailers(id, trailers)
        }
    }

    /// Returns flow-control credit to the client after the program has consumed content of an open request.
    mutating func took(_ count: Int, of id: RequestID) {
        guard let consumed = update(id, { $0.took(count) }) else { return }
        machine.took(consumed, of: id)
    }

    /// Removes and returns the next bytes to send.
    mutating func nextOutput(atMost limit: Int) -> ByteChain? {
        let window = machine.sendWindow
        let output = machine.nextOutput(atMost: limit)
        contentCount += window - machine.sendWindow
        closeFinished()
        return output
    }

    /// Records that the transport accepted bytes. Returns how many of them are a sign of progress by the client.
    ///
    /// If the client's flow-control windows block a response, only content bytes are such a sign. Otherwise a client
    /// could open no window and keep the connection alive with PING frames: the server answers each of them with an
    /// acknowledgment.
    mutating func accepted(_ count: Int) -> Int {
        let content = min(count, contentCount)
        contentCount -= content
        return hasQueuedContent ? content : count
    }

    /// Records that the program completed its response. The request closes at once if its stream is already closed,
    /// otherwise when the stream closes.
    mutating func completed(_ id: RequestID, _ events: inout HTTPServerEventQueue) {
        // The program no longer reads content that the client may still send. When the response has been sent, the
        // server can tell the client to stop sending (RFC 9113 §8.1).
        guard !closeSent(id, &events), update(id, { $0.completed() }) == true else { return }
        finished.append(id)
        closeFinished()
        // The client may send all its content before it reads the response. So unread content counts as consumed.
        // Otherwise it could fill the stream's window before the response has been sent.
        machine.abandoned(requests[id]?.unread ?? 0, of: id)
    }

    /// Stops reading requests whose complete response was sent before their content ended (RFC 9113 §8.1).
    private mutating func closeFinished() {
        guard !finished.isEmpty else { return }
        for id in finished where machine.queuedByteCount(of: id) == 0 { machine.discardRequest(id) }
        finished.removeAll { machine.queuedByteCount(of: $0) == 0 }
    }

    /// Closes a request whose stream has already closed. The stream can close before the program finishes the response,
    /// because a response without content ends with its head. Returns whether the request was closed.
    private mutating func closeSent(_ id: RequestID, _ events: inout HTTPServerEventQueue) -> Bool {
        guard requests[id]?.wasSentEarly == true else { return false }
        remove(id)
        events.append(.closed(id, isComplete: true))
        if isEnding, requests.isEmpty { events.end(isInterrupted: false) }
        return true
    }
}

// MARK: - Ending

extension HTTP2Serving {
    /// Closes the connection after the requests in progress (RFC 9113 §6.8).
    mutating func shutDown(at now: Duration) { machine.shutDown(at: now) }

    /// Resets a stream, so that the client notices the incomplete response.
    mutating func interrupt(_ id: RequestID, _ events: inout HTTPServerEventQueue) {
        if !closeSent(id, &events) { machine.reset(id, .internalError) }
    }

    /// Ends the connection with an error. If all streams are closed and only the program has not finished its requests,
    /// reports the end immediately.
    mutating func abort(_ code: HTTP2ErrorCode, _ events: inout HTTPServerEventQueue) {
        if isEnding { end(isInterrupted: true, &events) } else { machine.abort(code) }
    }

    /// Reports the end of the connection. First reports each request that the program has not finished as closed. These
    /// requests are complete for the client, because their responses were sent.
    private mutating func end(isInterrupted: Bool, _ events: inout HTTPServerEventQueue) {
        guard !events.hasEnded else { return }
        for id in requests.keys.sorted() {
            remove(id)
            events.append(.closed(id, isComplete: true))
        }
        events.end(isInterrupted: isInterrupted)
    }
}
