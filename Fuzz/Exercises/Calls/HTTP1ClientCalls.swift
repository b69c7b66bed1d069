internal import CausewayProtocols
internal import CausewayWire

/// A client whose server sends arbitrary bytes. The client's output is passed to a server of this library, which must
/// understand every request.
struct HTTP1ClientCalls: CalledConnection, ClockedLife {
    private var client: HTTP1Client
    private var cutter: Cutter
    private let configuration: HTTP1Client.Configuration
    var now: Duration = .zero
    private(set) var record = CallRecord()
    /// The simulated server that reads the output. `nil` after a request that turns the connection into a tunnel or
    /// another protocol.
    private var mirror: HTTP1Server? = HTTP1Server()
    private var content = NumberedContent()
    private var mirrored = NumberedContent()
    private var (receivedCount, deliveredCount) = (0, 0)
    private var isOpen = false

    init(_ options: UInt8, _ cutter: Cutter) {
        var configuration = HTTP1Client.Configuration()
        configuration.headLimits.byteCount = options & 1 == 0 ? 1 << 10 : 100
        configuration.headLimits.fieldCount = options & 2 == 0 ? 100 : 3
        configuration.maximumInformationalCount = 3
        self.configuration = configuration
        self.cutter = cutter
        client = HTTP1Client(configuration: configuration)
    }

    var nextDeadline: Duration? { client.deadline }

    mutating func advance() { client.advance(to: now) }

    mutating func call(_ choices: inout Exercise.Choices) {
        let hadEnded = record.hasEnded
        switch choices.next(below: 16) {
        case 0: request(&choices)
        case 1: send(choices.next(below: 40))
        case 2: end(&choices)
        case 3: pass(.milliseconds(Int(choices.next()) * 10))
        case 4: client.inputEnded(isClean: choices.next() & 1 == 0)
        case 5: if choices.next() < 32 { abort() }
        case 6: bypass(choices.next(below: 50))
        case 7, 8: read(atMost: choices.next(below: 20))
        case 9, 10: while read(atMost: .max) {}
        default: receive(HTTP1Fragments.next(HTTP1Fragments.responses, &choices))
        }
        precondition(!hadEnded || client.outputCount == 0, "output after the last event")
        checkOutput()
    }

    private mutating func receive(_ bytes: [UInt8]) {
        guard client.inputRoom > 0 else { return }
        receivedCount += bytes.count
        for piece in cutter.pieces(of: bytes) { client.received(piece) }
    }

    private mutating func bypass(_ count: Int) {
        // The client skips bytes of its input that have not arrived yet. Only the content among these bytes counts as
        // received.
        let share = client.bypass(count)
        precondition(share >= 0 && share <= count)
        receivedCount += share
        deliveredCount += share
    }

    private mutating func request(_ choices: inout Exercise.Choices) {
        let options = choices.next()
        let method = ["GET", "HEAD", "POST", "CONNECT"][Int(options & 3)]
        var fields = FieldSection()
        fields.append("Host", "h")
        if options & 4 != 0 { fields.append("Upgrade", "x") }
        if options & 8 != 0 { fields.append("Expect", "100-continue") }
        if options & 16 != 0 { fields.append("Connection", "close") }
        let lengths: [HTTP1BodyLength] = [.none, .length(30), .chunked, .length(0)]
        let length = method == "POST" ? lengths[choices.next(below: 4)] : .none
        let head = HTTPRequestHead(
            method: method, target: method == "CONNECT" ? "h:1" : "/", version: options & 32 == 0 ? .http11 : .http10,
            fields: fields)
        let count = client.outputCount
        do {
            try client.send(head, body: length, at: now)
            precondition(!isOpen && !record.hasEnded)
            isOpen = true
            content = NumberedContent()
        } catch {
            precondition(client.outputCount == count, "a refused request left output")
        }
    }

    private mutating func send(_ count: Int) {
        let bytes = content.next(count)
        attempt { client throws(HTTP1Failure) in try client.sendContent(bytes[...]) }
    }

    private mutating func end(_ choices: inout Exercise.Choices) {
        var trailers = FieldSection()
        if choices.next() & 1 == 0 { trailers.append("A", "b") }
        attempt { client throws(HTTP1Failure) in try client.sendEnd(trailers: trailers) }
    }

    /// Makes one call to the client. If the client throws an error because the call is a mistake, ends the connection.
    private mutating func attempt(_ body: (inout HTTP1Client) throws(HTTP1Failure) -> Void) {
        do throws(HTTP1Failure) { try body(&client) } catch { abort() }
    }

    private mutating func abort() {
        mirror = nil
        client.abort()
        precondition(client.outputCount == 0 && client.takeOutput().isEmpty)
    }

    /// Takes content events up to `limit` bytes, until an event of another kind arrives. Returns whether more events
    /// may follow.
    @discardableResult
    private mutating func read(atMost limit: Int) -> Bool {
        var rest = limit
        while let event = client.nextEvent(atMost: rest) {
            guard case .content(let bytes) = event else {
                note(event)
                return !client.hasEnded
            }
            precondition(!bytes.isEmpty && bytes.count <= rest && isOpen)
            rest -= bytes.count
            deliveredCount += bytes.count
            precondition(deliveredCount <= receivedCount, "more content than input")
            record.add(bytes)
        }
        return false
    }

    private mutating func note(_ event: HTTP1Client.Event) {
        switch event {
        case .informational(let head), .responded(let head, _):
            check(head.fields)
            precondition(isOpen)
            record.add("\(event)")
        case .finished(let trailers, _):
            check(trailers)
            precondition(isOpen)
            isOpen = false
            record.add("\(event)")
        case .upgraded:
            mirror = nil
            close("\(event)")
        case .ended: close("\(event)")
        case .content: break
        }
    }

    private mutating func close(_ line: String) {
        precondition(client.hasEnded && client.inputRoom == 0 && client.deadline == nil)
        isOpen = false
        record.end(line)
    }

    private func check(_ fields: FieldSection) {
        precondition(fields.count <= configuration.headLimits.fieldCount)
        precondition(fields.byteCount <= configuration.headLimits.byteCount)
    }

    /// Passes the client's output to the mirror, a simulated server, and checks what the mirror decodes.
    private mutating func checkOutput() {
        let output = client.takeOutput()
        mirror?.received(output.bytes[...])
        while let event = mirror?.nextEvent() {
            switch event {
            case .requested(let head, _):
                mirrored = NumberedContent()
                if head.method == "CONNECT" { mirror = nil }
            case .content(let bytes): mirrored.check(bytes)
            case .finished: try? mirror?.respond(HTTPResponseHead(status: 204))
            case .upgraded: mirror = nil
            case .ended(let failure): precondition(failure == nil, "a request is malformed")
            }
        }
    }

    mutating func finish() {
        while read(atMost: .max) {}
        client.inputEnded()
        while read(atMost: .max) {}
        checkOutput()
        precondition(client.hasEnded && record.hasEnded && !isOpen)
        client.received([1, 2])
        client.abort()
        client.advance(to: now + .seconds(100))
        try? client.send(HTTPRequestHead(method: "GET", target: "/"), at: now)
        try? client.sendContent([1])
        try? client.sendEnd()
        precondition(client.nextEvent() == nil && client.outputCount == 0)
    }
}
