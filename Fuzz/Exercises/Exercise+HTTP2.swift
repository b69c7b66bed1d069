internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayTestKit
internal import CausewayWire

extension Exercise {
    /// Decodes HPACK field blocks. Checks that the dynamic table does not exceed its maximum size, that limits are enforced, and that
    /// decoded fields can be encoded to a block that decodes to equal fields.
    ///
    /// - Parameter bytes: The blocks. Each block is preceded by one byte with its length.
    /// - Returns: The number of decoded fields.
    @discardableResult
    public static func hpack(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        var decoder = HPACKDecoder()
        var (encoder, mirror) = (HPACKEncoder(), HPACKDecoder())
        decoder.limits.listSize = 1 << 14
        let size = Int(choices.next()) * 32
        decoder.setMaximumTableSize(size)
        var fieldCount = 0
        while !choices.isEmpty {
            let block = choices.take(Int(choices.next()))
            guard let decoded = try? decoder.decode(block.span) else { break }
            precondition(decoder.tableSize <= max(size, HPACKDecoder.defaultTableSize))
            precondition(!decoded.exceedsLimit || decoded.fields.isEmpty && decoded.controlData.isEmpty)
            let count = decoded.fields.count + decoded.controlData.count
            precondition(decoded.fields.byteCount + decoded.controlData.byteCount + 32 * count <= 1 << 14)
            fieldCount += count
            check(decoded, &encoder, &mirror)
        }
        return fieldCount
    }

    private static func check(_ block: HPACKFieldBlock, _ encoder: inout HPACKEncoder, _ decoder: inout HPACKDecoder) {
        var written: [UInt8] = []
        encoder.beginBlock(&written)
        encoder.append(block.controlData, to: &written)
        encoder.append(block.fields, to: &written)
        guard let again = try? decoder.decode(written.span) else {
            preconditionFailure("the encoded block is malformed")
        }
        precondition(again == block || block.exceedsLimit)
        precondition(encoder.tableSize == decoder.tableSize && encoder.tableCount == decoder.tableCount)
    }

    /// Splits bytes into HTTP/2 frames. Checks that the result does not depend on how the input is split, and that frames can be encoded
    /// and decoded to equal frames.
    ///
    /// - Returns: The number of frames.
    @discardableResult
    public static func http2Frames(_ bytes: [UInt8]) -> Int {
        let seed = UInt64(bytes.first ?? 0)
        let input = Array(bytes.dropFirst())
        let whole = frames(input) { .max }
        var random = SplitMix64(seed: seed)
        let pieces = frames(input) { random.chance(oneIn: 2) ? 1 : random.integer(in: 1...30) }
        precondition(whole == pieces)
        return whole.count
    }

    /// Returns the frames and errors that the reader finds in the bytes, as text.
    private static func frames(_ bytes: [UInt8], _ nextCount: () -> Int) -> [String] {
        var reader = HTTP2FrameReader()
        var found: [String] = []
        var content: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(nextCount())
            rest = rest.dropFirst(piece.count)
            reader.append(piece)
            while true {
                do {
                    guard let item = try reader.next() else { break }
                    note(item, &content, &found)
                } catch {
                    found.append("\(error)")
                    if error.scope == .connection { return found }
                }
            }
        }
        return found
    }

    private static func note(_ item: HTTP2FrameReader.Item, _ content: inout [UInt8], _ found: inout [String]) {
        switch item {
        case .data(let piece):
            content += piece.bytes
            guard piece.isLast else { return }
            found.append("data \(piece.streamID) \(content) \(piece.endsStream)")
            content = []
        case .frame(let header, let frame):
            checkFrame(header, frame)
            found.append("\(header) \(frame)")
        }
    }

    private static func checkFrame(_ header: HTTP2FrameHeader, _ frame: HTTP2Frame) {
        if case .unknown = frame { return }
        var written: [UInt8] = []
        frame.serialize(streamID: header.streamID, into: &written)
        guard let again = HTTP2FrameHeader(written.span),
            let parsed = try? HTTP2Frame(again, payload: written.dropFirst(HTTP2FrameHeader.byteCount))
        else { preconditionFailure("the encoded frame is malformed") }
        precondition(parsed == frame && again.streamID == header.streamID && again.length == header.length)
    }

    /// Runs an HTTP/2 connection with arbitrary bytes after its handshake. Checks that its events do not depend on how
    /// the input is split. Checks that each stream and the connection end exactly once, and that the output consists of
    /// valid frames.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func http2Connection(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        let options = choices.next()
        let seed = UInt64(choices.next())
        let input = choices.rest
        var whole = HTTP2Subject(options, reacts: false)
        whole.receive(input)
        whole.finish()
        var pieces = HTTP2Subject(options, reacts: false)
        var active = HTTP2Subject(options, reacts: true)
        var random = SplitMix64(seed: seed)
        var rest = input[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(random.chance(oneIn: 3) ? 1 : random.integer(in: 1...100)))
            rest = rest.dropFirst(piece.count)
            pieces.receive(piece)
            active.receive(piece)
        }
        pieces.finish()
        active.finish()
        precondition(whole.told == pieces.told)
        return whole.told.count
    }
}

/// A connection under test, with the checks that must hold for any input.
private struct HTTP2Subject {
    private var connection: HTTP2Connection
    private var reader = HTTP2FrameReader()
    private let isClient: Bool
    /// Whether the program responds to requests, and consumes and sends content.
    private let reacts: Bool
    private var open: Set<UInt32> = []
    private var now: Duration = .zero
    private var prefaceCount = 0
    /// How often the program has sent further content.
    private var sendCount = 0
    private var hasEnded = false
    /// The events as text. Consecutive parts of content are joined.
    private(set) var told: [String] = []
    private var content: (id: UInt32, bytes: [UInt8])?

    init(_ options: UInt8, reacts: Bool) {
        isClient = options & 1 == 0
        self.reacts = reacts
        var configuration = HTTP2Configuration()
        configuration.floodBurst = 40
        configuration.settings.initialWindowSize = options & 2 != 0 ? 100 : 1 << 20
        configuration.settings.maxConcurrentStreams = 4
        configuration.settings.maxHeaderListSize = 500
        configuration.settings.headerTableSize = options & 4 != 0 ? 100 : 4096
        connection = HTTP2Connection(isClient ? .client : .server, configuration: configuration)
        connection.started(at: .zero)
        var start = isClient ? [] : Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        HTTP2Frame.settings([HTTP2Setting(.initialWindowSize, 50)]).serialize(streamID: 0, into: &start)
        HTTP2Frame.settingsAcknowledgment.serialize(streamID: 0, into: &start)
        receive(start)
        if isClient { request(options) }
        if options & 64 != 0 { connection.shutDown(at: .zero) }
        settle()
    }

    private mutating func request(_ options: UInt8) {
        for method in ["GET", options & 8 != 0 ? "HEAD" : "POST", options & 16 != 0 ? "CONNECT" : "GET"] {
            let isConnect = method == "CONNECT"
            let head = HTTP2RequestHead(
                method: method, scheme: isConnect ? "" : "https", authority: "h", path: isConnect ? "" : "/")
            let endsStream = method == "GET" || method == "HEAD"
            guard let id = try? connection.request(head, endsStream: endsStream) else { continue }
            open.insert(id)
            if !endsStream, reacts { try? connection.send(id, ByteChain([UInt8](repeating: 7, count: 80))) }
        }
    }

    mutating func receive(_ bytes: [UInt8]) {
        connection.received(bytes[...], at: now)
        settle()
    }

    mutating func finish() {
        connection.inputEnded()
        settle()
        precondition(hasEnded && connection.isFinished && open.isEmpty && connection.streamCount == 0)
    }

    private mutating func settle() {
        var moved = true
        while moved {
            moved = false
            while let event = connection.nextEvent() {
                note(event)
                moved = true
            }
            while let output = connection.nextOutput(atMost: 40) {
                check(output.bytes[...])
                moved = true
            }
        }
    }

    /// Checks that the connection's output consists of valid frames. A client's output begins with the connection
    /// preface.
    private mutating func check(_ output: ArraySlice<UInt8>) {
        let preface = isClient ? min(output.count, 24 - prefaceCount) : 0
        prefaceCount += preface
        reader.append(output.dropFirst(preface))
        do {
            while try reader.next() != nil {}
        } catch {
            preconditionFailure("the output is invalid: \(error)")
        }
    }

    private mutating func note(_ event: HTTP2Connection.Event) {
        precondition(!hasEnded)
        if case .content(let id, let bytes, let endsStream) = event {
            precondition(open.contains(id) && (endsStream || !bytes.isEmpty))
            content = (id, (content?.id == id ? content?.bytes ?? [] : flushed()) + bytes)
            if endsStream { told.append("end of content \(id) \(flushed())") }
            if reacts { connection.took(bytes.count, of: id) }
            return
        }
        _ = flushed()
        told.append("\(event)")
        switch event {
        case .request(let id, _, _):
            precondition(open.insert(id).inserted)
            if reacts { answer(id) }
        case .informational(let id, _), .response(let id, _, _), .trailers(let id, _): precondition(open.contains(id))
        case .drained(let id):
            precondition(reacts && open.contains(id))
            sendCount += 1
            try? connection.send(id, ByteChain([1, 2, 3]), endsStream: id % 4 == 1 || sendCount > 20)
        case .closed(let id, _): precondition(open.remove(id) != nil)
        case .ended: hasEnded = true
        case .content, .settings, .pingAnswered, .goAway: break
        }
    }

    /// Adds the current run of content bytes to the list of events. Returns an empty array, in which the next run is
    /// collected.
    private mutating func flushed() -> [UInt8] {
        if let run = content.take() { told.append("content \(run.id) \(run.bytes)") }
        return []
    }

    private mutating func answer(_ id: UInt32) {
        switch id % 8 {
        case 1: try? connection.respond(id, HTTP2ResponseHead(status: 204), endsStream: true)
        case 3:
            try? connection.respond(id, HTTP2ResponseHead(status: 103), endsStream: false)
            try? connection.respond(id, HTTP2ResponseHead(status: 200), endsStream: false)
            try? connection.send(id, ByteChain([UInt8](repeating: 9, count: 120)), endsStream: true)
        case 5: connection.reset(id, .refusedStream)
        default:
            try? connection.respond(id, HTTP2ResponseHead(status: 200), endsStream: false)
            try? connection.send(id, ByteChain([UInt8](repeating: 9, count: 20)))
            try? connection.sendTrailers(id, FieldSection())
        }
    }
}
