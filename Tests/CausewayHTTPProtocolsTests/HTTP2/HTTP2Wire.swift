import CausewayHTTPProtocols
import CausewayWire

/// Builds the frames that a simulated HTTP/2 peer sends.
struct HTTP2Wire {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let get: [(String, String)] = [
        (":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "/"),
    ]
    static let post: [(String, String)] = [
        (":method", "POST"), (":scheme", "https"), (":authority", "h"), (":path", "/"),
    ]
    static let ok = [(":status", "200")]

    private(set) var bytes: [UInt8] = []
    private var encoder = HPACKEncoder()

    mutating func raw(_ more: [UInt8]) { bytes += more }

    /// Appends a frame with these header values, even if they are invalid.
    mutating func frame(_ type: UInt8, flags: UInt8 = 0, on id: UInt32, _ payload: [UInt8] = [], length: Int? = nil) {
        HTTP2FrameHeader(
            length: length ?? payload.count, type: HTTP2FrameType(rawValue: type),
            flags: HTTP2FrameFlags(rawValue: flags), streamID: id
        ).serialize(into: &bytes)
        bytes += payload
    }

    mutating func frame(_ frame: HTTP2Frame, on id: UInt32 = 0) { frame.serialize(streamID: id, into: &bytes) }

    mutating func settings(_ settings: [HTTP2Setting] = []) { frame(.settings(settings)) }

    mutating func setting(_ identifier: HTTP2SettingIdentifier, _ value: UInt32) {
        settings([HTTP2Setting(identifier, value)])
    }

    /// Returns an encoded field block whose names keep their case.
    mutating func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            // A literal without indexing and without Huffman codes (RFC 7541 §6.2.2), which can hold any bytes.
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return block
    }

    mutating func headers(
        _ id: UInt32, _ fields: [(String, String)], endsStream: Bool = true, endsHeaders: Bool = true
    ) {
        let block = block(fields)
        frame(.headers(HTTP2HeadersFrame(block[...], endsHeaders: endsHeaders, endsStream: endsStream)), on: id)
    }

    mutating func data(_ id: UInt32, count: Int = 4, endsStream: Bool = false) {
        frame(.data([UInt8](repeating: 0x61, count: count)[...], endsStream: endsStream), on: id)
    }
}

/// A connection under test, with the frames that it sent and the events that it reported.
struct HTTP2Subject {
    var connection: HTTP2Connection
    var now: Duration = .zero
    private var reader = HTTP2FrameReader()
    private var decoder = HPACKDecoder()
    private(set) var events: [HTTP2Connection.Event] = []
    /// The frames that were sent. Content pieces are DATA frames.
    private(set) var frames: [(id: UInt32, frame: HTTP2Frame)] = []
    private(set) var sentPreface: [UInt8] = []

    init(_ role: HTTP2Connection.Role, _ change: (inout HTTP2Configuration) -> Void = { _ in }) {
        var configuration = HTTP2Configuration()
        change(&configuration)
        connection = HTTP2Connection(role, configuration: configuration)
        connection.started(at: .zero)
        collect()
    }

    /// Returns a connection that has completed the HTTP/2 handshake.
    static func open(
        _ role: HTTP2Connection.Role, settings: [HTTP2Setting] = [], acknowledges: Bool = true,
        _ change: (inout HTTP2Configuration) -> Void = { _ in }
    ) -> HTTP2Subject {
        var subject = HTTP2Subject(role, change)
        var wire = HTTP2Wire()
        if role == .server { wire.raw(HTTP2Wire.preface) }
        wire.settings(settings)
        if acknowledges { wire.frame(.settingsAcknowledgment) }
        subject.receive(wire.bytes)
        subject.frames = []
        subject.events = []
        return subject
    }

    mutating func receive(_ bytes: [UInt8], piece: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty {
            connection.received(rest.prefix(piece), at: now)
            rest = rest.dropFirst(piece)
        }
        collect()
    }

    mutating func receive(_ script: (inout HTTP2Wire) -> Void) {
        var wire = HTTP2Wire()
        script(&wire)
        receive(wire.bytes)
    }

    /// Collects all output and all events from the connection.
    mutating func collect(atMost limit: Int = 64 << 10) {
        while let output = connection.nextOutput(atMost: limit) { parse(output.bytes) }
        while let event = connection.nextEvent() { events.append(event) }
    }

    /// Takes the next piece of the connection's output, and parses the frames in it.
    mutating func collectOnce(atMost limit: Int) {
        if let output = connection.nextOutput(atMost: limit) { parse(output.bytes) }
    }

    private mutating func parse(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        if connection.role == .client, sentPreface.count < HTTP2Wire.preface.count {
            sentPreface += bytes.prefix(HTTP2Wire.preface.count)
            bytes = bytes.dropFirst(HTTP2Wire.preface.count)
        }
        reader.append(bytes)
        while let item = try? reader.next() {
            switch item {
            case .data(let piece): frames.append((piece.streamID, .data(piece.bytes, endsStream: piece.endsStream)))
            case .frame(let header, let frame): frames.append((header.streamID, frame))
            }
        }
    }

    mutating func takeEvents() -> [HTTP2Connection.Event] {
        defer { events = [] }
        return events
    }

    mutating func takeFrames() -> [(id: UInt32, frame: HTTP2Frame)] {
        defer { frames = [] }
        return frames
    }

    /// Returns the decoded fields of all HEADERS frames that were sent, in order.
    mutating func decodeHeads() -> [FieldSection] {
        frames.compactMap { sent in
            guard case .headers(let headers) = sent.frame, let block = try? decoder.decode(headers.fragment.span) else {
                return nil
            }
            var all = block.controlData
            all.append(contentsOf: block.fields)
            return all
        }
    }

    /// The error codes of the GOAWAY frames that were sent.
    var goAways: [HTTP2ErrorCode] {
        frames.compactMap { if case .goAway(_, let code, _) = $0.frame { code } else { nil } }
    }

    /// The RST_STREAM frames that the connection has sent.
    var resets: [(id: UInt32, code: HTTP2ErrorCode)] {
        frames.compactMap { if case .resetStream(let code) = $0.frame { ($0.id, code) } else { nil } }
    }

    /// Returns the number of content bytes that were sent on a stream.
    func contentCount(of id: UInt32) -> Int {
        frames.reduce(0) { sum, sent in
            guard sent.id == id, case .data(let bytes, _, _) = sent.frame else { return sum }
            return sum + bytes.count
        }
    }
}
