internal import CausewayProtocols
internal import CausewayWire

/// Sends arbitrary bytes to an HTTP/1.1 server. A client from this library reads the server's output, and must
/// understand every response.
struct HTTP1ServerCalls: CalledConnection {
    private var server: HTTP1Server
    private var cutter: Cutter
    private let configuration: HTTP1Server.Configuration
    private(set) var record = CallRecord()
    private var mirror: HTTP1ResponseMirror? = HTTP1ResponseMirror()
    private var content = NumberedContent()
    private var (receivedCount, deliveredCount) = (0, 0)
    private var request = Request.none

    /// The progress of the current request.
    private enum Request { case none, open, finished }

    init(_ options: UInt8, _ cutter: Cutter) {
        var configuration = HTTP1Server.Configuration()
        configuration.headLimits.byteCount = options & 1 == 0 ? 1 << 10 : 100
        configuration.headLimits.fieldCount = options & 2 == 0 ? 100 : 3
        configuration.drainLimit = options & 4 == 0 ? 16 : 0
        self.configuration = configuration
        self.cutter = cutter
        server = HTTP1Server(configuration: configuration)
    }

    mutating func call(_ choices: inout Exercise.Choices) {
        let hadEnded = record.hasEnded
        switch choices.next(below: 20) {
        case 0, 1: respond(&choices)
        case 2, 3: send(choices.next(below: 40))
        case 4: end(&choices)
        case 5: attempt { server throws(HTTP1Failure) in try server.inform(HTTPResponseHead(status: 100)) }
        case 6: if choices.next() < 64 { server.inputEnded() }
        case 7:
            switch choices.next() {
            case 0..<16: abort()
            case 16..<32: server.timedOut()
            case 32..<64: server.finish()
            default: break
            }
        case 8, 9: read(atMost: choices.next(below: 20))
        case 10...13: while read(atMost: .max) {}
        default: receive(HTTP1Fragments.next(HTTP1Fragments.requests, &choices))
        }
        precondition(!hadEnded || server.outputCount == 0, "output after the last event")
        mirror?.receive(server.takeOutput())
    }

    private mutating func receive(_ bytes: [UInt8]) {
        guard server.inputRoom > 0 else { return }
        receivedCount += bytes.count
        for piece in cutter.pieces(of: bytes) { server.received(piece) }
    }

    private mutating func respond(_ choices: inout Exercise.Choices) {
        let statuses = [200, 204, 304, 101, 205, 404, 413]
        let lengths: [HTTP1BodyLength] = [.none, .length(30), .chunked, .untilEnd, .length(0)]
        var fields = FieldSection()
        let options = choices.next()
        if options & 64 != 0 { fields.append("Connection", options & 128 != 0 ? "close" : "keep-alive") }
        let response = HTTPResponseHead(status: statuses[Int(options & 63) % statuses.count], fields: fields)
        let count = server.outputCount
        do {
            try server.respond(response, body: lengths[choices.next(below: lengths.count)])
            precondition(request != .none)
            content = NumberedContent()
        } catch {
            precondition(server.outputCount == count, "a refused response left output")
        }
    }

    private mutating func send(_ count: Int) {
        let bytes = content.next(count)
        attempt { server throws(HTTP1Failure) in try server.sendContent(bytes[...]) }
    }

    private mutating func end(_ choices: inout Exercise.Choices) {
        var trailers = FieldSection()
        if choices.next() & 1 == 0 { trailers.append("A", "b") }
        attempt { server throws(HTTP1Failure) in try server.sendEnd(trailers: trailers) }
    }

    /// Calls a method on the server. If the server reports a mistake in the content, this function ends the connection,
    /// as a program must do.
    private mutating func attempt(_ body: (inout HTTP1Server) throws(HTTP1Failure) -> Void) {
        do throws(HTTP1Failure) {
            try body(&server)
        } catch {
            if error != .misuse("response without request") { abort() }
        }
    }

    private mutating func abort() {
        mirror = nil
        server.abort()
        precondition(server.outputCount == 0)
    }

    /// Takes content events, with at most `limit` bytes in total, and then the next other event. Returns whether there
    /// may be more events.
    @discardableResult
    private mutating func read(atMost limit: Int) -> Bool {
        var rest = limit
        while let event = server.nextEvent(atMost: rest) {
            guard case .content(let bytes) = event else {
                note(event)
                return !server.hasEnded
            }
            precondition(!bytes.isEmpty && bytes.count <= rest && request == .open)
            rest -= bytes.count
            deliveredCount += bytes.count
            precondition(deliveredCount <= receivedCount, "more content than input")
            record.add(bytes)
        }
        return false
    }

    private mutating func note(_ event: HTTP1Server.Event) {
        switch event {
        case .requested(let head, _):
            check(head.fields)
            request = .open
            mirror?.requested(head)
            record.add("\(event)")
        case .finished(let trailers):
            check(trailers)
            precondition(request == .open)
            request = .finished
            record.add("\(event)")
        case .upgraded: close("\(event)")
        case .ended(let failure):
            if failure == .aborted { mirror = nil }
            close("\(event)")
        case .content: break
        }
    }

    private mutating func close(_ line: String) {
        precondition(server.hasEnded && server.inputRoom == 0)
        record.end(line)
    }

    private func check(_ fields: FieldSection) {
        precondition(fields.count <= configuration.headLimits.fieldCount)
        precondition(fields.byteCount <= configuration.headLimits.byteCount)
    }

    mutating func finish() {
        while read(atMost: .max) {}
        server.inputEnded()
        while read(atMost: .max) {}
        // If a request has no response yet, the connection stays open. So abort it here.
        server.abort()
        while read(atMost: .max) {}
        precondition(server.hasEnded && record.hasEnded)
        server.received([1, 2])
        server.timedOut()
        server.finish()
        try? server.respond(HTTPResponseHead(status: 200))
        try? server.sendContent([1])
        try? server.sendEnd()
        precondition(server.nextEvent() == nil)
        precondition(record.lines.last == "upgraded" || server.takeOutput().isEmpty)
    }
}

/// An HTTP/1.1 client that reads the tested server's output.
struct HTTP1ResponseMirror {
    private var client: HTTP1Client
    private var content = NumberedContent()
    private var waiting: [HTTPRequestHead] = []
    private var hasEnded = false

    init() {
        var configuration = HTTP1Client.Configuration()
        configuration.maximumInformationalCount = .max
        client = HTTP1Client(configuration: configuration)
    }

    mutating func requested(_ head: HTTPRequestHead) { waiting.append(head) }

    mutating func receive(_ output: ByteChain) {
        for byte in output.bytes where !hasEnded {
            if client.isIdle { send() }
            client.received([byte])
            while let event = client.nextEvent() { note(event) }
        }
    }

    /// Sends the request that the next response answers. If no request is left, sends a GET request, because the server
    /// also responds to a malformed head.
    private mutating func send() {
        let original = waiting.isEmpty ? HTTPRequestHead(method: "GET", target: "/") : waiting.removeFirst()
        var fields = FieldSection()
        fields.append("Host", "h")
        if original.fields.contains("Upgrade") { fields.append("Upgrade", "x") }
        do {
            try client.send(HTTPRequestHead(method: original.method, target: "/", fields: fields), at: .zero)
        } catch {
            preconditionFailure("the mirror cannot send: \(error)")
        }
    }

    private mutating func note(_ event: HTTP1Client.Event) {
        switch event {
        case .informational: break
        case .responded: content = NumberedContent()
        case .content(let bytes): content.check(bytes)
        case .finished: break
        case .upgraded: hasEnded = true
        case .ended(let failure):
            precondition(failure == nil, "a response is malformed")
            hasEnded = true
        }
    }
}
