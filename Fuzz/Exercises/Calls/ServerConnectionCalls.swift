internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire

/// Tests the server side of an HTTP/1.1 or HTTP/2 connection. The client sends arbitrary bytes.
struct ServerConnectionCalls: CalledConnection, ClockedLife {
    private typealias RequestID = HTTPServerConnection.RequestID

    private var connection: HTTPServerConnection
    private var cutter: Cutter
    private let limits: HTTPServerLimits
    private let unreadLimit: Int
    var now: Duration = .zero
    private(set) var record = CallRecord()
    /// The generator of the client's HTTP/2 frames; `nil` if the client uses HTTP/1.
    private var frames: HTTP2PeerFrames?
    private var requests: [RequestID: Request] = [:]
    private var lastID: RequestID = 0
    private var (receivedCount, deliveredCount) = (0, 0)

    /// The counts for a request that has not ended.
    private struct Request {
        var unread = 0
        var received = 0
        var hasFinished = false
        var isTunnel = false
    }

    init(_ options: UInt8, _ cutter: Cutter) {
        self.cutter = cutter
        var limits = HTTPServerLimits()
        limits.headByteCount = options & 1 == 0 ? 1 << 10 : 100
        limits.fieldCount = options & 2 == 0 ? 100 : 5
        limits.contentByteCount = options & 4 == 0 ? 30 : 1 << 20
        limits.requestCount = options & 8 == 0 ? 100 : 2
        limits.unreadByteCount = options & 16 == 0 ? 10 : 1 << 16
        limits.concurrentRequestCount = 3
        limits.requiresContentLength = options & 32 != 0
        self.limits = limits
        connection = HTTPServerConnection(limits, isSecure: false, at: .zero)
        if options & 0x80 != 0 { frames = HTTP2PeerFrames(isClient: true) }
        // Until the client has acknowledged the server's SETTINGS frame, its streams use the default window size of
        // 65,535 bytes.
        unreadLimit = frames == nil ? limits.unreadByteCount : max(65_535, limits.unreadByteCount)
        guard frames != nil else { return }
        var start = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        HTTP2Frame.settings([HTTP2Setting(.initialWindowSize, 50)]).serialize(streamID: 0, into: &start)
        receive(start)
    }

    var nextDeadline: Duration? { connection.deadline }

    mutating func advance() {
        connection.advance(to: now)
        settle()
    }

    mutating func call(_ choices: inout Exercise.Choices) {
        switch choices.next(below: 24) {
        case 0, 1, 2: respond(&choices)
        case 3, 4: try? connection.send(id(&choices), ByteChain([UInt8](repeating: 7, count: Int(choices.next()))))
        case 5: finish(&choices)
        case 6: take(&choices)
        case 7: try? connection.inform(id(&choices), [100, 103, 200, 101][choices.next(below: 4)])
        case 8: connection.requestContent(id(&choices))
        case 9: if choices.next() < 64 { connection.interrupt(id(&choices)) }
        case 10: end(choices.next())
        case 11: pass(.seconds(choices.next(below: 40)))
        case 12: connection.sent(Int(choices.next()), hasMore: choices.next() & 1 == 0, at: now)
        case 13: connection.sending()
        case 14, 15: write(atMost: Int(choices.next()) + 1)
        default: receive(frames?.next(&choices) ?? HTTP1Fragments.next(HTTP1Fragments.requests, &choices))
        }
        settle()
    }

    /// Selects one of the latest requests and returns its identifier. The fuzzer's input decides which request.
    private func id(_ choices: inout Exercise.Choices) -> RequestID {
        let choice = RequestID(choices.next() % 4)
        return frames == nil ? lastID &- choice % 2 : lastID &- choice * 2
    }

    private mutating func receive(_ bytes: [UInt8]) {
        guard connection.wantsInput else { return }
        receivedCount += bytes.count
        for piece in cutter.pieces(of: bytes) { connection.received(piece, at: now) }
    }

    private mutating func respond(_ choices: inout Exercise.Choices) {
        let (id, options) = (id(&choices), choices.next())
        let status = [200, 204, 304, 404, 205, 200, 99, 500][Int(options & 7)]
        if options & 0xC0 == 0xC0 {
            if (try? connection.upgrade(id, FieldSection())) != nil { requests[id]?.isTunnel = true }
            return
        }
        let contents: [HTTPServerContent] = [.none, .length(20), .unknown, .length(0)]
        if (try? connection.respond(id, status, FieldSection(), contents[Int(options >> 3 & 3)])) != nil {
            precondition(requests[id] != nil, "a response to a closed request")
        }
    }

    private mutating func finish(_ choices: inout Exercise.Choices) {
        var trailers = FieldSection()
        if choices.next() & 1 == 0 { trailers.append("a", "b") }
        let id = id(&choices)
        // If the program cannot complete a request's content, it interrupts the request.
        do throws(HTTPServerRefusal) {
            try connection.finish(id, trailers: trailers)
        } catch {
            if case .invalid = error { connection.interrupt(id) }
        }
    }

    private mutating func take(_ choices: inout Exercise.Choices) {
        let (id, share) = (id(&choices), Int(choices.next()))
        let count = (requests[id]?.unread ?? 0) * share / 255
        connection.took(count, of: id)
        requests[id]?.unread -= count
    }

    private mutating func end(_ choice: UInt8) {
        switch choice {
        case 0..<16: connection.abort()
        case 16..<64: connection.shutDown(at: now)
        case 64..<96: connection.inputEnded()
        default: break
        }
    }

    private mutating func write(atMost limit: Int) {
        _ = connection.nextOutput(atMost: limit)
    }

    private mutating func settle() {
        while let event = connection.nextEvent() { note(event) }
        connection.settle(at: now)
    }

    private mutating func note(_ event: HTTPServerConnection.Event) {
        switch event {
        case .requested(let id, let head):
            precondition(requests.updateValue(Request(), forKey: id) == nil && id > lastID)
            if head.method == "CONNECT" { requests[id]?.isTunnel = true }
            precondition(head.target.utf8.count <= limits.targetByteCount && head.fields.count <= limits.fieldCount)
            lastID = id
        case .content(let id, let bytes): return arrived(id, bytes)
        case .finished(let id, _):
            precondition(requests[id]?.hasFinished == false, "a second end of the content")
            requests[id]?.hasFinished = true
        case .refusedContent(let id), .clientEnded(let id): precondition(requests[id] != nil)
        case .closed(let id, _): precondition(requests.removeValue(forKey: id) != nil, "a second end of a request")
        case .ended:
            precondition(requests.isEmpty && connection.deadline == nil && !connection.wantsInput)
            return record.end("\(event)")
        }
        record.add("\(event)")
    }

    private mutating func arrived(_ id: RequestID, _ bytes: ArraySlice<UInt8>) {
        guard var request = requests[id] else { preconditionFailure("content of a closed request") }
        precondition(!bytes.isEmpty && !request.hasFinished)
        deliveredCount += bytes.count
        request.unread += bytes.count
        request.received += bytes.count
        precondition(deliveredCount <= receivedCount, "more content than input")
        precondition(request.unread <= unreadLimit, "more unread content than the limit")
        precondition(request.isTunnel || request.received <= limits.contentByteCount, "more content than the limit")
        requests[id] = request
        record.add(bytes, of: id)
    }

    mutating func finish() {
        for _ in 0..<3 { write(atMost: 1 << 20) }
        settle()
        connection.inputEnded()
        settle()
        connection.abort()
        settle()
        precondition(record.hasEnded && requests.isEmpty && connection.deadline == nil)
        while connection.nextOutput() != nil {}
        connection.received([1, 2, 3], at: now)
        connection.inputEnded()
        connection.shutDown(at: now)
        connection.abort()
        connection.advance(to: now + .seconds(1_000))
        connection.settle(at: now)
        try? connection.respond(lastID, 200, FieldSection(), .none)
        precondition(connection.nextEvent() == nil && connection.nextOutput() == nil)
    }
}
