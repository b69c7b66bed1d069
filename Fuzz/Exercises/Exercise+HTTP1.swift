internal import CausewayProtocols
internal import CausewayTestKit
internal import CausewayWire

extension Exercise {
    /// Runs an HTTP/1 client or server with arbitrary bytes as its input. The connection must end exactly once. Its
    /// events and its output must not depend on how the input is split.
    ///
    /// The first byte selects the role and the options. The second byte selects how the input is split.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func http1Connection(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        let options = choices.next()
        let seed = UInt64(choices.next())
        let input = choices.rest
        return options & 1 == 0
            ? compare(HTTP1ClientSubject(options), input, seed) : compare(HTTP1ServerSubject(options), input, seed)
    }

    private static func compare(_ subject: some HTTP1Subject, _ input: [UInt8], _ seed: UInt64) -> Int {
        var one = subject
        one.receive(input[...])
        one.finish()
        var random = SplitMix64(seed: seed)
        var pieces = subject
        var rest = input[...]
        while !rest.isEmpty {
            let count = min(rest.count, random.chance(oneIn: 3) ? 1 : random.integer(in: 1...200))
            pieces.receive(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        pieces.finish()
        precondition(one.record == pieces.record)
        return one.record.lines.count
    }
}

/// The events and the output of an HTTP/1 state machine.
private struct HTTP1Record: Equatable {
    var lines: [String] = []
    var content: [UInt8] = []
    var output: [UInt8] = []
    var endCount = 0

    mutating func add(_ line: String) {
        precondition(endCount == 0)
        lines.append("\(content.count) \(line)")
    }

    mutating func end(_ line: String) {
        add(line)
        endCount += 1
    }
}

private protocol HTTP1Subject {
    var record: HTTP1Record { get }
    mutating func receive(_ bytes: ArraySlice<UInt8>)
    mutating func finish()
}

/// A client that sends one request.
private struct HTTP1ClientSubject: HTTP1Subject {
    private let options: UInt8
    private var client: HTTP1Client
    var record = HTTP1Record()

    init(_ options: UInt8) {
        self.options = options
        var configuration = HTTP1Client.Configuration()
        configuration.headLimits.byteCount = 1 << 10
        configuration.maximumInformationalCount = 3
        client = HTTP1Client(configuration: configuration)
        send()
    }

    private mutating func send() {
        let methods = ["GET", "HEAD", "POST", "CONNECT"]
        var fields = FieldSection()
        fields.append("Host", "h")
        if options & 8 != 0 { fields.append("Upgrade", "x") }
        if options & 16 != 0 { fields.append("Expect", "100-continue") }
        let method = methods[Int(options >> 1 & 3)]
        let request = HTTPRequestHead(method: method, target: "/", fields: fields)
        do {
            try client.send(request, body: method == "POST" ? .chunked : .none, at: .zero)
            try client.sendContent([1, 2, 3])
            try client.sendEnd()
        } catch {
            // Only a request without a body may fail here, because it accepts no content.
            precondition(method != "POST")
        }
    }

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        client.received(bytes)
        takeEvents()
    }

    mutating func finish() {
        client.inputEnded(isClean: options & 32 == 0)
        takeEvents()
        if record.endCount == 0 { precondition(client.hasEnded) }
        client.abort()
        precondition(client.nextEvent() == nil && client.hasEnded)
    }

    private mutating func takeEvents() {
        while let event = client.nextEvent(atMost: options & 64 == 0 ? .max : 3) {
            switch event {
            case .informational(let head): record.add("informational \(head)")
            case .responded(let head, let length): record.add("responded \(head) \(length)")
            case .content(let bytes):
                precondition(!bytes.isEmpty)
                record.content += bytes
            case .finished(let trailers, _):
                // The record leaves out whether the connection can be reused, because this depends on how the input is
                // split.
                record.end("finished \(trailers)")
                return finishEarly()
            case .upgraded(let head):
                record.end("upgraded \(head)")
                return
            case .ended(let failure): record.end("ended \(String(describing: failure))")
            }
        }
        record.output += client.takeOutput().bytes
    }

    /// Aborts the client after the first response, so that the record ends there.
    private mutating func finishEarly() {
        record.output += client.takeOutput().bytes
        client.abort()
        while client.nextEvent() != nil {}
    }
}

/// An HTTP/1 server under test that responds to each request.
private struct HTTP1ServerSubject: HTTP1Subject {
    private let options: UInt8
    private var server: HTTP1Server
    var record = HTTP1Record()

    init(_ options: UInt8) {
        self.options = options
        var configuration = HTTP1Server.Configuration()
        configuration.headLimits.byteCount = 1 << 10
        configuration.drainLimit = 16
        server = HTTP1Server(configuration: configuration)
    }

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        server.received(bytes)
        takeEvents()
    }

    mutating func finish() {
        server.inputEnded()
        takeEvents()
        precondition(record.endCount == 1)
        server.abort()
        precondition(server.nextEvent() == nil && server.hasEnded)
    }

    private mutating func takeEvents() {
        while let event = server.nextEvent(atMost: options & 64 == 0 ? .max : 3) {
            switch event {
            case .requested(let head, let length):
                record.add("requested \(head) \(length)")
                if server.awaitsContinue, options & 4 != 0 { try? server.inform(HTTPResponseHead(status: 100)) }
                if options & 2 != 0 { respond() }
            case .content(let bytes):
                precondition(!bytes.isEmpty)
                record.content += bytes
            case .finished(let trailers):
                record.add("finished \(trailers)")
                respond()
            case .upgraded: record.end("upgraded")
            case .ended(let failure): record.end("ended \(String(describing: failure))")
            }
        }
        record.output += server.takeOutput().bytes
    }

    private mutating func respond() {
        let lengths: [HTTP1BodyLength] = [.none, .length(3), .chunked, .untilEnd]
        do {
            if options & 8 != 0 { try server.respond(HTTPResponseHead(status: 101)) }
            try server.respond(HTTPResponseHead(status: 200), body: lengths[Int(options >> 4 & 3)])
        } catch {
            // A response was already sent, or the client did not request an upgrade.
            try? server.respond(HTTPResponseHead(status: 200), body: lengths[Int(options >> 4 & 3)])
        }
        try? server.sendContent([1, 2, 3])
        try? server.sendEnd()
    }
}
