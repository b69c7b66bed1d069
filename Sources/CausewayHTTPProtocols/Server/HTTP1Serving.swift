import CausewayProtocols

internal import CausewayWire

/// The HTTP/1 state of a server connection.
struct HTTP1Serving: Sendable {
    var machine: HTTP1Server
    /// The current request; `nil` between requests.
    var id: HTTPServerConnection.RequestID?
    var lastID: HTTPServerConnection.RequestID = 0
    /// Content bytes delivered to the program and not yet consumed by it.
    var unread = 0
    /// Content bytes received for the current request.
    var received = 0
    var hasContent = false
    var hasResponded = false
    /// The client's half-close of the tunnel, and whether the program has been notified of it.
    var tunnelEnd = TunnelEnd.open
    var isTunnel = false
    var tunnelInput = ByteChain()
    var tunnelOutput = ByteChain()

    enum TunnelEnd: Sendable { case open, ended, reported }

    init(_ limits: HTTPServerLimits) {
        var configuration = HTTP1Server.Configuration()
        configuration.headLimits.byteCount = limits.headByteCount
        configuration.headLimits.fieldCount = limits.fieldCount
        machine = HTTP1Server(configuration: configuration)
    }

    /// The number of undecoded bytes at which the server stops reading. They can contain pipelined requests.
    private static let inputLimit = 64 << 10

    var wantsInput: Bool {
        if isTunnel { return tunnelEnd == .open && tunnelInput.count < Self.inputLimit }
        return machine.inputRoom > HTTP1Server.inputLimit - Self.inputLimit
    }

    /// Bytes to send.
    var outputCount: Int { machine.outputCount + tunnelOutput.count }

    /// The current request while it has no response; `nil` in a tunnel.
    var awaitingID: HTTPServerConnection.RequestID? { hasResponded || isTunnel ? nil : id }

    mutating func received(_ bytes: ArraySlice<UInt8>) {
        if isTunnel { tunnelInput.append(bytes) } else { machine.received(bytes) }
    }

    mutating func inputEnded() {
        if isTunnel {
            if tunnelEnd == .open { tunnelEnd = .ended }
        } else {
            machine.inputEnded()
        }
    }

    mutating func takeOutput() -> ByteChain {
        var output = machine.takeOutput()
        guard isTunnel else { return output }
        output.append(tunnelOutput)
        tunnelOutput = ByteChain()
        return output
    }

    mutating func begin() -> HTTPServerConnection.RequestID {
        lastID &+= 1
        id = lastID
        unread = 0
        received = 0
        hasResponded = false
        return lastID
    }
}

extension HTTPServerConnection {
    /// Decodes input until an event is queued or the input is exhausted.
    mutating func readHTTP1() {
        while events.isEmpty, let unread = http1?.unread {
            if http1?.isTunnel == true { return readTunnel() }
            guard let event = http1?.machine.nextEvent(atMost: max(0, limits.unreadByteCount - unread)) else { return }
            handle(event)
        }
    }

    private mutating func handle(_ event: HTTP1Server.Event) {
        switch event {
        case .requested(let head, let length): requested(head, length)
        case .content(let content): arrived(content)
        case .finished(let trailers):
            if let id = http1?.id, http1?.hasContent == true {
                events.append(.finished(id, trailers: trailers))
            }
        case .upgraded:
            // The program completed its response to CONNECT without content, so no request is left that could close the tunnel.
            guard http1?.id != nil else { return end(isInterrupted: false) }
            modifyHTTP1 { serving in
                serving.isTunnel = true
                serving.tunnelInput = serving.machine.takeRemainingInput()
                if serving.machine.inputHasEnded { serving.tunnelEnd = .ended }
            }
            readTunnel()
        case .ended(let failure): endHTTP1(isInterrupted: failure == .aborted)
        }
    }

    private mutating func requested(_ head: HTTPRequestHead, _ length: HTTP1BodyLength) {
        requestCount += 1
        times.requested()
        let isLast = requestCount >= limits.requestCount || isShuttingDown
        var id: RequestID = 0
        modifyHTTP1 { serving in
            id = serving.begin()
            serving.hasContent = length != .none
            if isLast { serving.machine.finish() }
        }
        var contentLength: Int? = 0
        switch length {
        case .none: break
        case .length(let count): contentLength = count
        case .chunked, .untilEnd: contentLength = nil
        }
        if let status = refusal(head, contentLength) { return refuseHTTP1(status) }
        let target = Self.originForm(head.target, head.method)
        events.append(
            .requested(
                id,
                HTTPServerRequestHead(
                    method: head.method, target: target.text,
                    authority: target.authority ?? head.fields.firstValue(of: "Host"), version: head.version,
                    fields: head.fields, contentLength: contentLength, hasContent: length != .none)))
    }

    /// Returns the refusal status for a request; `nil` if the server accepts it (RFC 9110 §15.5.14, §15.5.18).
    func refusal(_ head: HTTPRequestHead, _ contentLength: Int?) -> Int? {
        if head.target.utf8.count > limits.targetByteCount { return 414 }
        if let contentLength, contentLength > limits.contentByteCount { return 413 }
        if contentLength == nil, limits.requiresContentLength { return 411 }
        // RFC 9110 §10.1.1 defines no other expectation.
        if head.fields.contains("Expect"), !head.fields.hasElement("100-continue", in: "Expect") { return 417 }
        return nil
    }

    /// Responds to the current request without reporting it to the owner, and closes the connection after the response.
    private mutating func refuseHTTP1(_ status: Int) {
        modifyHTTP1 { serving in
            serving.machine.finish()
            let head = HTTPResponseHead(status: status, reason: HTTPStatus.reason(status))
            try? serving.machine.respond(head, body: .none)
            serving.id = nil
        }
    }

    /// Reports content up to ``HTTPServerLimits/contentByteCount``. The number of delivered bytes does not depend on
    /// how the input is split.
    private mutating func arrived(_ content: ArraySlice<UInt8>) {
        guard let id = http1?.id, let received = http1?.received else { return }
        let delivered = content.prefix(max(0, limits.contentByteCount - received))
        let isTooLong = delivered.count < content.count
        modifyHTTP1 { serving in
            serving.received += content.count
            serving.unread += delivered.count
            if isTooLong { serving.machine.finish() }
        }
        if !delivered.isEmpty { events.append(.content(id, delivered)) }
        if isTooLong, received <= limits.contentByteCount { events.append(.refusedContent(id)) }
    }

    /// Converts a request target to origin form, and returns the authority if the target is in absolute form (RFC 9112 §3.2, §3.3).
    private static func originForm(_ target: String, _ method: String) -> (text: String, authority: String?) {
        if target.utf8.first == UInt8(ascii: "/") || target == "*" || method == "CONNECT" { return (target, nil) }
        guard let uri = URIReference(target), let authority = uri.authority else { return (target, nil) }
        return (uri.originForm, authority.port.map { "\(authority.host):\($0)" } ?? authority.host)
    }

    private mutating func readTunnel() {
        let limit = limits.unreadByteCount
        guard let id = http1?.id, events.isEmpty else { return }
        var piece: ArraySlice<UInt8>?
        modifyHTTP1 { serving in
            let room = limit - serving.unread
            guard room > 0, let next = serving.tunnelInput.popPiece(atMost: room) else { return }
            serving.unread += next.count
            piece = next
        }
        if let piece { return events.append(.content(id, piece)) }
        guard http1?.tunnelEnd == .ended, http1?.tunnelInput.isEmpty == true else { return }
        http1?.tunnelEnd = .reported
        events.append(.finished(id, trailers: FieldSection()))
    }

    /// Reports the end of the connection, after closing the current request as incomplete.
    mutating func endHTTP1(isInterrupted: Bool) {
        let open = http1?.id
        http1?.id = nil
        if let open, !hasEnded { events.append(.closed(open, isComplete: false)) }
        end(isInterrupted: isInterrupted)
    }
}
