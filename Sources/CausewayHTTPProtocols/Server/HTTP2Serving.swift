internal import CausewayProtocols
internal import CausewayWire

/// The HTTP/2 state of a server connection.
struct HTTP2Serving: Sendable {
    /// An open request.
    struct Request: Sendable {
        var unread = 0
        var received = 0
        var hasRequestEnded = false
        /// Whether response content is blocked by the client's flow-control windows.
        var hasQueuedContent = false
        /// Whether the content exceeds the limit. Its rest is discarded.
        var isTooLong = false
        var method: HTTP2MethodKind
        var response = Response.open

        enum Response: Sendable {
            case open
            /// The response head has ended the server's side of the stream. The program has not finished the response.
            case withoutContent
            /// As ``withoutContent``, but the stream is closed. The request closes when the program finishes.
            case sent
            /// The response is complete. Further request content is discarded.
            case done
        }

        init(_ method: HTTP2MethodKind) { self.method = method }

        var discards: Bool { isTooLong || response == .done }
        /// Whether response content is discarded, because the response can have none.
        var discardsResponse: Bool { response == .withoutContent || response == .sent }
        /// Whether the server waits for content: the client may send it, and the program has consumed all it received.
        var awaitsContent: Bool { !hasRequestEnded && !discards && method != .tunnel && unread == 0 }
    }

    var machine: HTTP2Connection
    private(set) var requests: [HTTP2StreamID: Request] = [:]
    /// Requests for which ``Request/awaitsContent`` is true.
    private var awaitingCount = 0
    /// Responses blocked by the client's flow-control windows.
    private var queuedCount = 0
    /// Requests with a complete response and incomplete content. Each is closed when its response has been sent.
    var finished: [HTTP2StreamID] = []
    /// Whether the last event of ``machine`` was handled. The connection then ends when no request is left.
    var isEnding = false
    /// The content bytes that were passed to the transport, which has not accepted them yet.
    private var contentCount = 0

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

    /// Whether any request waits for the client's content.
    var awaitsContent: Bool { awaitingCount > 0 }
    /// Whether any response is blocked by the client's flow-control windows.
    var hasQueuedContent: Bool { queuedCount > 0 }

    /// Removes and returns the next bytes to send.
    mutating func nextOutput(atMost limit: Int) -> ByteChain? {
        let window = machine.sendWindow
        let output = machine.nextOutput(atMost: limit)
        contentCount += window - machine.sendWindow
        return output
    }

    /// Records that the transport accepted bytes. Returns how many of them show that the client makes progress.
    ///
    /// While the client's windows block a response, only content does. A client that opens no window could otherwise
    /// stay connected with PING frames, because each one makes the server send an acknowledgment.
    mutating func accepted(_ count: Int) -> Int {
        let content = min(count, contentCount)
        contentCount -= content
        return hasQueuedContent ? content : count
    }

    mutating func insert(_ id: HTTP2StreamID, _ method: HTTP2MethodKind) {
        requests[id] = Request(method)
        awaitingCount += 1
    }

    /// Changes a request and updates the two counts. Has no effect if the request is closed.
    mutating func update(_ id: HTTP2StreamID, _ body: (inout Request) -> Void) {
        guard let old = requests[id] else { return }
        var new = old
        body(&new)
        requests[id] = new
        count(old, by: -1)
        count(new, by: 1)
    }

    mutating func remove(_ id: HTTP2StreamID) -> Request? {
        guard let request = requests.removeValue(forKey: id) else { return nil }
        count(request, by: -1)
        return request
    }

    private mutating func count(_ request: Request, by step: Int) {
        if request.awaitsContent { awaitingCount += step }
        if request.hasQueuedContent { queuedCount += step }
    }

    /// Stops reading requests whose complete response was sent before their content ended (RFC 9113 §8.1).
    mutating func closeFinished() {
        guard !finished.isEmpty else { return }
        for id in finished where machine.queuedByteCount(of: id) == 0 { machine.discardRequest(id) }
        finished.removeAll { machine.queuedByteCount(of: $0) == 0 }
    }
}

extension HTTPServerConnection {
    /// Translates machine events until one is queued for the owner.
    mutating func readHTTP2() {
        while events.isEmpty, let event = http2?.machine.nextEvent() { handle(event) }
    }

    private mutating func handle(_ event: HTTP2Connection.Event) {
        switch event {
        case .request(let id, let head, let endsStream): requested(id, head, endsStream: endsStream)
        case .content(let id, let bytes, let endsStream):
            arrived(id, bytes)
            if endsStream { requestEnded(id, FieldSection()) }
        case .trailers(let id, let fields): requestEnded(id, fields)
        case .closed(let id, let failure): closed(id, failure)
        case .ended(let failure):
            // All streams are closed. A shutdown also waits until the program has finished the remaining requests.
            http2?.isEnding = true
            let isInterrupted = failure == .aborted || failure == .endedEarly
            if isInterrupted || http2?.requests.isEmpty == true { endHTTP2(isInterrupted: isInterrupted) }
        case .drained(let id): http2?.update(id) { $0.hasQueuedContent = false }
        case .settings, .pingAnswered, .goAway, .informational, .response: break
        }
    }

    private mutating func requested(_ id: RequestID, _ head: HTTP2RequestHead, endsStream: Bool) {
        requestCount += 1
        times.requested()
        let isLast = requestCount >= limits.requestCount
        modifyHTTP2 { serving in
            serving.insert(id, HTTP2MethodKind(head))
            if isLast { serving.machine.finishAccepting() }
        }
        // A CONNECT request has no content (RFC 9110 §9.3.6), so the machine does not check its field.
        let announced = head.isConnect ? nil : try? head.fields.contentLength?.get()
        let contentLength = endsStream ? 0 : announced
        let plain = HTTPRequestHead(
            method: head.method, target: head.path, version: .http2, fields: head.fields)
        if let status = refusal(plain, head.isConnect ? 0 : contentLength) {
            return refuseHTTP2(id, status, endsStream: endsStream)
        }
        events.append(
            .requested(
                id,
                HTTPServerRequestHead(
                    method: head.method, target: head.isConnect && head.path.isEmpty ? head.authority ?? "" : head.path,
                    authority: head.authority ?? head.fields.firstValue(of: "host"), version: .http2,
                    protocolName: head.protocolName, fields: head.fields, contentLength: contentLength,
                    hasContent: !endsStream)))
        if endsStream { http2?.update(id) { $0.hasRequestEnded = true } }
    }

    /// Responds to a request without reporting it to the owner.
    private mutating func refuseHTTP2(_ id: RequestID, _ status: Int, endsStream: Bool) {
        modifyHTTP2 { serving in
            _ = serving.remove(id)
            try? serving.machine.respond(id, HTTP2ResponseHead(status: status), endsStream: true)
            if !endsStream { serving.machine.discardRequest(id) }
        }
    }

    /// Reports content up to ``HTTPServerLimits/contentByteCount``. The number of delivered bytes does not depend on
    /// how the input is split.
    private mutating func arrived(_ id: RequestID, _ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        let limit = limits.contentByteCount
        var (delivered, isTooLong) = (bytes.prefix(0), false)
        modifyHTTP2 { serving in
            serving.update(id) { request in
                guard !request.discards else { return }
                delivered = request.method == .tunnel ? bytes : bytes.prefix(limit - request.received)
                isTooLong = delivered.count < bytes.count
                request.isTooLong = isTooLong
                request.received += delivered.count
                request.unread += delivered.count
            }
            serving.machine.took(bytes.count - delivered.count, of: id)
        }
        if !delivered.isEmpty { events.append(.content(id, delivered)) }
        if isTooLong { events.append(.refusedContent(id)) }
    }

    private mutating func requestEnded(_ id: RequestID, _ trailers: FieldSection) {
        var isReported = false
        http2?.update(id) { request in
            isReported = !request.hasRequestEnded && !request.discards
            request.hasRequestEnded = true
        }
        if isReported { events.append(.finished(id, trailers: trailers)) }
    }

    private mutating func closed(_ id: RequestID, _ failure: HTTP2StreamFailure?) {
        // The response is complete for the client, but the program may still send content, which is discarded.
        if failure == nil, http2?.requests[id]?.response == .withoutContent {
            http2?.update(id) { $0.response = .sent }
            return
        }
        let request = http2?.remove(id)
        http2?.finished.removeAll { $0 == id }
        if let request { events.append(.closed(id, isComplete: failure == nil || request.response == .done)) }
    }
    /// Closes a request if its response was sent before the program finished the response. Returns whether the request
    /// was closed.
    mutating func closeSent(_ id: RequestID) -> Bool {
        guard http2?.requests[id]?.response == .sent else { return false }
        _ = http2?.remove(id)
        events.append(.closed(id, isComplete: true))
        if http2?.isEnding == true, http2?.requests.isEmpty == true { end(isInterrupted: false) }
        return true
    }

    /// Ends the connection with an error, also if it only waits for the program.
    mutating func abortHTTP2(_ code: HTTP2ErrorCode = .noError) {
        if http2?.isEnding == true { endHTTP2(isInterrupted: true) } else { http2?.machine.abort(code) }
    }

    /// Reports the end of the connection, after closing the requests that the program has not finished. The client has
    /// received their responses.
    private mutating func endHTTP2(isInterrupted: Bool) {
        guard !hasEnded else { return }
        for id in http2?.requests.keys.sorted() ?? [] {
            _ = http2?.remove(id)
            events.append(.closed(id, isComplete: true))
        }
        end(isInterrupted: isInterrupted)
    }
}
