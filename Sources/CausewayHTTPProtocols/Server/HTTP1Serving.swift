import CausewayProtocols

internal import CausewayWire

/// The HTTP/1 state of a server connection.
struct HTTP1Serving: Sendable {
    typealias RequestID = HTTPServerConnection.RequestID

    /// The server stops reading when this number of undecoded bytes has accumulated. These bytes can contain pipelined
    /// requests.
    private static let inputLimit = 64 << 10

    private var machine: HTTP1Server
    /// The current request; `nil` between requests.
    private(set) var id: RequestID?
    private var lastID: RequestID = 0
    /// The number of bytes that were delivered to the program, and that the program has not consumed yet.
    private var unread = 0
    /// The number of content bytes received for the current request.
    private var receivedCount = 0
    private var hasContent = false
    private var hasResponded = false
    private var tunnel: HTTP1Tunnel?

    init(_ limits: HTTPServerLimits) {
        var configuration = HTTP1Server.Configuration()
        configuration.headLimits.byteCount = limits.headByteCount
        configuration.headLimits.fieldCount = limits.fieldCount
        machine = HTTP1Server(configuration: configuration)
    }

    var isTunnel: Bool { tunnel != nil }

    var wantsInput: Bool {
        if let tunnel { return tunnel.wantsInput(upTo: Self.inputLimit) }
        return machine.inputRoom > HTTP1Server.inputLimit - Self.inputLimit
    }

    /// Bytes to send.
    var outputCount: Int { machine.outputCount + (tunnel?.outputCount ?? 0) }

    /// The connection's phase, which determines the timeouts that apply.
    var phase: HTTPServerTimes.Phase { isTunnel || !machine.awaitsHead ? .busy : machine.isIdle ? .idle : .head }

    /// Whether the server waits for request content. This is so if the content is incomplete and the program has
    /// consumed everything that has arrived. The value is `false` in a tunnel, and while the client waits for status
    /// 100.
    var awaitsContent: Bool { !isTunnel && unread == 0 && machine.awaitsContent }

    /// Whether the client waits for status 100 before it sends content.
    var awaitsContinue: Bool { machine.awaitsContinue }
}

// MARK: - Receiving

extension HTTP1Serving {
    mutating func received(_ bytes: ArraySlice<UInt8>) {
        if isTunnel { tunnel?.received(bytes) } else { machine.received(bytes) }
    }

    /// Records the client's half-close.
    mutating func inputEnded(_ events: inout HTTPServerEventQueue) {
        guard !isTunnel else {
            tunnel?.inputEnded()
            return
        }
        machine.inputEnded()
        if let id, !hasResponded { events.append(.clientEnded(id)) }
    }

    /// Decodes input until there is an event, or until no input is left.
    mutating func read(_ admission: inout HTTPServerAdmission, _ events: inout HTTPServerEventQueue) {
        while events.isEmpty {
            let room = admission.limits.unreadByteCount - unread
            guard !isTunnel else { return readTunnel(room, &events) }
            guard let event = machine.nextEvent(atMost: max(0, room)) else { return }
            handle(event, &admission, &events)
        }
    }

    private mutating func handle(
        _ event: HTTP1Server.Event, _ admission: inout HTTPServerAdmission, _ events: inout HTTPServerEventQueue
    ) {
        switch event {
        case .requested(let head, let length): requested(head, length, &admission, &events)
        case .content(let content): arrived(content, limit: admission.limits.contentByteCount, &events)
        case .finished(let trailers):
            if let id, hasContent { events.append(.finished(id, trailers: trailers)) }
        case .upgraded:
            // The program may have already completed its response to CONNECT. In that case, no request is left that
            // could close the tunnel, so the connection ends.
            guard id != nil else { return events.end(isInterrupted: false) }
            let input = machine.takeRemainingInput()
            tunnel = HTTP1Tunnel(input, hasEnded: machine.inputHasEnded)
            readTunnel(admission.limits.unreadByteCount - unread, &events)
        case .ended(let failure): end(isInterrupted: failure == .aborted, &events)
        }
    }

    private mutating func requested(
        _ head: HTTPRequestHead, _ length: HTTP1BodyLength, _ admission: inout HTTPServerAdmission,
        _ events: inout HTTPServerEventQueue
    ) {
        let isLast = admission.requested()
        let id = begin(hasContent: length != .none)
        if isLast || admission.isShuttingDown { machine.finish() }
        var contentLength: Int? = 0
        switch length {
        case .none: break
        case .length(let count): contentLength = count
        case .chunked, .untilEnd: contentLength = nil
        }
        if let status = admission.refusal(head, contentLength) { return refuse(status) }
        let target = Self.originForm(head.target, head.method)
        events.append(
            .requested(
                id,
                HTTPServerRequestHead(
                    method: head.method, target: target.text,
                    authority: target.authority ?? head.fields.firstValue(of: "Host"), version: head.version,
                    fields: head.fields, contentLength: contentLength, hasContent: length != .none)))
    }

    private mutating func begin(hasContent: Bool) -> RequestID {
        lastID &+= 1
        id = lastID
        unread = 0
        receivedCount = 0
        hasResponded = false
        self.hasContent = hasContent
        return lastID
    }

    /// Responds to the current request with `status`, without reporting the request to the program. Closes the
    /// connection after the response.
    private mutating func refuse(_ status: Int) {
        machine.finish()
        let head = HTTPResponseHead(status: status, reason: HTTPStatus.reason(status))
        try? machine.respond(head, body: .none)
        id = nil
    }

    /// Reports content up to ``HTTPServerLimits/contentByteCount``. The number of delivered bytes does not depend on
    /// how the input is split.
    private mutating func arrived(
        _ content: ArraySlice<UInt8>, limit: Int, _ events: inout HTTPServerEventQueue
    ) {
        guard let id else { return }
        let before = receivedCount
        let delivered = content.prefix(max(0, limit - before))
        let isTooLong = delivered.count < content.count
        receivedCount += content.count
        unread += delivered.count
        if isTooLong { machine.finish() }
        if !delivered.isEmpty { events.append(.content(id, delivered)) }
        if isTooLong, before <= limit { events.append(.refusedContent(id)) }
    }

    /// Converts a request target to origin form, and returns the authority if the target is in absolute form
    /// (RFC 9112 §3.2, §3.3).
    private static func originForm(_ target: String, _ method: String) -> (text: String, authority: String?) {
        if target.utf8.first == UInt8(ascii: "/") || target == "*" || method == "CONNECT" { return (target, nil) }
        guard let uri = URIReference(target), let authority = uri.authority else { return (target, nil) }
        return (uri.originForm, authority.port.map { "\(authority.host):\($0)" } ?? authority.host)
    }

    /// Reports at most `room` received bytes of the tunnel. When no bytes are left, reports the end if the client has
    /// half-closed the connection.
    private mutating func readTunnel(_ room: Int, _ events: inout HTTPServerEventQueue) {
        guard let id, events.isEmpty else { return }
        if room > 0, let piece = tunnel?.takeInput(atMost: room) {
            unread += piece.count
            return events.append(.content(id, piece))
        }
        if tunnel?.takeEnd() == true { events.append(.finished(id, trailers: FieldSection())) }
    }
}

// MARK: - Sending

extension HTTP1Serving {
    mutating func inform(_ status: Int, _ fields: FieldSection) throws(HTTP1Failure) {
        try machine.inform(HTTPResponseHead(status: status, reason: HTTPStatus.reason(status), fields: fields))
    }

    mutating func respond(
        _ status: Int, _ fields: FieldSection, _ content: HTTPServerContent
    ) throws(HTTP1Failure) {
        let length: HTTP1BodyLength =
            switch content {
            case .none: .none
            case .length(let count): .length(count)
            case .unknown: .chunked
            }
        let head = HTTPResponseHead(status: status, reason: HTTPStatus.reason(status), fields: fields)
        try machine.respond(head, body: length)
        hasResponded = true
    }

    /// Switches the connection to another protocol.
    mutating func upgrade(_ fields: FieldSection) throws(HTTP1Failure) {
        try machine.respond(HTTPResponseHead(status: 101, reason: "Switching Protocols", fields: fields))
        hasResponded = true
    }

    /// Sends response content or tunnel bytes.
    mutating func send(_ bytes: ByteChain) throws(HTTP1Failure) {
        if isTunnel {
            tunnel?.send(bytes)
            return
        }
        var bytes = bytes
        while let piece = bytes.popPiece() { try machine.sendContent(piece) }
    }

    /// Ends the response. Does nothing if the connection is a tunnel.
    mutating func finish(_ trailers: FieldSection) throws(HTTP1Failure) {
        if !isTunnel { try machine.sendEnd(trailers: trailers) }
    }

    mutating func takeOutput() -> ByteChain {
        var output = machine.takeOutput()
        if let rest = tunnel?.takeOutput() { output.append(rest) }
        return output
    }

    /// Records that the program has consumed content.
    mutating func took(_ count: Int, of id: RequestID) { if self.id == id { unread -= min(count, unread) } }

    /// Records that the program completed its response.
    mutating func completed(_ id: RequestID, _ events: inout HTTPServerEventQueue) {
        self.id = nil
        // The program reads no more content, so only the client can now delay the end of the request. From here on, the
        // timeout for request content applies.
        unread = 0
        events.append(.closed(id, isComplete: true))
    }
}

// MARK: - Ending

extension HTTP1Serving {
    /// Closes the connection after the current request.
    mutating func shutDown() { machine.finish() }

    /// Ends the connection because the client does not send its request in time.
    mutating func timedOut() { machine.timedOut() }

    /// Ends the connection, so that the client notices the incomplete response.
    mutating func interrupt(_ id: RequestID, _ events: inout HTTPServerEventQueue) {
        guard self.id == id else { return }
        if isTunnel { end(isInterrupted: true, &events) } else { machine.abort() }
    }

    /// Ends the connection at once.
    mutating func abort(_ events: inout HTTPServerEventQueue) {
        machine.abort()
        if isTunnel { end(isInterrupted: true, &events) }
    }

    /// Reports the end of the connection. If a request is open, first closes it as incomplete.
    private mutating func end(isInterrupted: Bool, _ events: inout HTTPServerEventQueue) {
        let open = id.take()
        if let open, !events.hasEnded { events.append(.closed(open, isComplete: false)) }
        events.end(isInterrupted: isInterrupted)
    }
}
