internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire

/// Tests an HTTP/2 connection, as client or as server. Its peer sends arbitrary frames.
struct HTTP2Calls: CalledConnection, ClockedLife {
    private var connection: HTTP2Connection
    private var cutter: Cutter
    var now: Duration = .zero
    private(set) var record = CallRecord()
    private let isClient: Bool
    private var frames: HTTP2PeerFrames
    private var ledger: HTTP2Ledger
    private var streams: [HTTP2StreamID: Stream] = [:]
    private let windows: (stream: Int, connection: Int)
    private var (receivedCount, deliveredCount) = (0, 0)

    /// The state of a stream that is still open.
    private struct Stream {
        var content = NumberedContent()
        /// The number of content bytes that the program has not consumed.
        var unread = 0
        var hasEnded = false
    }

    init(_ options: UInt8, _ cutter: Cutter) {
        isClient = options & 0x80 == 0
        self.cutter = cutter
        var configuration = HTTP2Configuration()
        configuration.floodBurst = options & 1 == 0 ? 40 : 5
        configuration.settings.initialWindowSize = options & 2 == 0 ? 100 : 100_000
        configuration.connectionWindow = options & 4 == 0 ? 65_535 : 70_000
        configuration.settings.maxConcurrentStreams = 3
        configuration.settings.maxHeaderListSize = 500
        configuration.settings.headerTableSize = options & 8 == 0 ? 4_096 : 100
        configuration.settings.enablesConnectProtocol = options & 16 == 0
        let growth = options & 64 == 0 ? 0 : 300
        configuration.maximumStreamWindow = configuration.settings.initialWindowSize + growth
        windows = (max(65_535, configuration.maximumStreamWindow), max(65_535, configuration.connectionWindow))
        frames = HTTP2PeerFrames(isClient: !isClient)
        ledger = HTTP2Ledger(isClient: isClient, connectionWindow: windows.connection, streamGrowth: growth)
        connection = HTTP2Connection(isClient ? .client : .server, configuration: configuration)
        connection.started(at: .zero)
        if !isClient { connection.received(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)[...], at: now) }
        guard options & 32 == 0 else { return }
        var start: [UInt8] = []
        HTTP2Frame.settings([HTTP2Setting(.initialWindowSize, 50)]).serialize(streamID: 0, into: &start)
        HTTP2Frame.settingsAcknowledgment.serialize(streamID: 0, into: &start)
        receive(start)
    }

    var nextDeadline: Duration? { connection.deadline }

    mutating func advance() {
        connection.advance(to: now)
        read()
    }

    mutating func call(_ choices: inout Exercise.Choices) {
        let hadEnded = record.hasEnded
        switch choices.next(below: 24) {
        case 0, 1: begin(&choices)
        case 2, 3: send(&choices)
        case 4: sendTrailers(&choices)
        case 5, 6: take(&choices)
        case 7: close(choices.next())
        case 8:
            connection.setPriority(
                id(&choices), HTTPPriority(urgency: choices.next() & 7, isIncremental: choices.next() & 1 == 0))
        case 9: connection.sendPing(UInt64(choices.next()))
        case 10: end(choices.next())
        case 11: pass(.milliseconds(Int(choices.next()) * 50))
        case 12, 13, 14: write(atMost: Int(choices.next()) + 1)
        default: receive(frames.next(&choices))
        }
        read()
        connection.settle(at: now)
        precondition(!hadEnded || connection.nextEvent() == nil)
    }

    private mutating func close(_ choice: UInt8) {
        let id = HTTP2StreamID(choice % 16) * 2 + 1
        if choice < 128 { connection.reset(id, .cancel) } else { connection.discardRequest(id) }
    }

    private func id(_ choices: inout Exercise.Choices) -> HTTP2StreamID { HTTP2StreamID(choices.next() % 16) * 2 + 1 }

    private mutating func receive(_ bytes: [UInt8]) {
        receivedCount += bytes.count
        ledger.sent(bytes)
        for piece in cutter.pieces(of: bytes) { connection.received(piece, at: now) }
        read()
    }

    private mutating func end(_ choice: UInt8) {
        switch choice {
        case 0..<8: connection.abort()
        case 8..<32: connection.shutDown(at: now)
        case 32..<64: connection.finishAccepting()
        case 64..<72: connection.inputEnded()
        default: break
        }
    }

    // MARK: The program

    private mutating func begin(_ choices: inout Exercise.Choices) {
        let options = choices.next()
        guard isClient else { return respond(id(&choices), options) }
        let method = ["GET", "POST", "HEAD", "CONNECT"][Int(options & 3)]
        let isConnect = method == "CONNECT"
        var head = HTTP2RequestHead(
            method: method, scheme: isConnect ? "" : "https", authority: "h", path: isConnect ? "" : "/")
        head.fields.append("x", String(repeating: "z", count: Int(options >> 4) * 10))
        let endsStream = options & 4 == 0
        let priority = HTTPPriority(urgency: options >> 5, isIncremental: options & 8 == 0)
        guard let id = try? connection.request(head, endsStream: endsStream, priority: priority) else { return }
        precondition(streams.updateValue(Stream(hasEnded: endsStream), forKey: id) == nil && !record.hasEnded)
    }

    private mutating func respond(_ id: HTTP2StreamID, _ options: UInt8) {
        let head = HTTP2ResponseHead(status: [200, 103, 204, 200][Int(options & 3)])
        guard (try? connection.respond(id, head, endsStream: options & 4 == 0)) != nil else { return }
        precondition(streams[id] != nil)
    }

    private mutating func send(_ choices: inout Exercise.Choices) {
        let id = id(&choices)
        let count = Int(choices.next()) * 4
        var content = streams[id]?.content ?? NumberedContent()
        let bytes = ByteChain(content.next(count))
        guard (try? connection.send(id, bytes, endsStream: choices.next() & 3 == 0)) != nil else { return }
        precondition(streams[id] != nil, "content of a closed stream")
        streams[id]?.content = content
    }

    private mutating func sendTrailers(_ choices: inout Exercise.Choices) {
        var fields = FieldSection()
        fields.append("a", "b")
        let id = id(&choices)
        guard (try? connection.sendTrailers(id, fields)) != nil else { return }
        precondition(streams[id] != nil, "trailers of a closed stream")
    }

    /// Consumes received content on a random stream.
    private mutating func take(_ choices: inout Exercise.Choices) {
        let (id, share) = (id(&choices), Int(choices.next()))
        let count = (streams[id]?.unread ?? 0) * share / 255
        connection.took(count, of: id)
        streams[id]?.unread -= count
    }

    private mutating func write(atMost limit: Int) {
        guard let output = connection.nextOutput(atMost: limit) else { return }
        ledger.received(output.bytes)
    }

    // MARK: Events

    private mutating func read() {
        while let event = connection.nextEvent() { note(event) }
        precondition(streams.count == connection.streamCount, "streams without an end")
    }

    private mutating func note(_ event: HTTP2Connection.Event) {
        switch event {
        case .content(let id, let bytes, let endsStream): return arrived(id, bytes, endsStream)
        case .request(let id, _, _): precondition(!isClient && streams.updateValue(Stream(), forKey: id) == nil)
        case .informational(let id, _), .response(let id, _, _): precondition(isClient && streams[id] != nil)
        case .trailers(let id, _), .drained(let id): precondition(streams[id] != nil)
        case .closed(let id, _):
            guard let stream = streams.removeValue(forKey: id) else { preconditionFailure("a second end of a stream") }
            connection.took(stream.unread, of: id)
        case .ended:
            precondition(connection.hasEnded && connection.deadline == nil && streams.isEmpty)
            return record.end("\(event)")
        case .settings, .pingAnswered, .goAway: break
        }
        record.add("\(event)")
    }

    private mutating func arrived(_ id: HTTP2StreamID, _ bytes: ArraySlice<UInt8>, _ endsStream: Bool) {
        guard let stream = streams[id] else { preconditionFailure("content of a closed stream") }
        precondition(endsStream || !bytes.isEmpty)
        deliveredCount += bytes.count
        streams[id]?.unread += bytes.count
        precondition(deliveredCount <= receivedCount, "more content than input")
        precondition(stream.unread + bytes.count <= windows.stream, "the stream holds too much")
        precondition(streams.values.reduce(0) { $0 + $1.unread } <= windows.connection, "the connection holds too much")
        record.add(bytes, of: id)
        if endsStream { record.add("end of content \(id)") }
    }

    mutating func finish() {
        for _ in 0..<3 { write(atMost: 1 << 20) }
        read()
        connection.inputEnded()
        read()
        precondition(connection.hasEnded && record.hasEnded && connection.streamCount == 0)
        while let output = connection.nextOutput() { ledger.received(output.bytes) }
        precondition(connection.isFinished)
        connection.received([0, 0, 0, 0, 0], at: now)
        connection.took(100, of: 1)
        connection.reset(1)
        connection.shutDown(at: now)
        connection.abort()
        connection.advance(to: now + .seconds(1_000))
        precondition(!connection.sendPing(1) && connection.deadline == nil)
        precondition((try? connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)) == nil)
        precondition(connection.nextEvent() == nil && connection.nextOutput() == nil)
    }
}
