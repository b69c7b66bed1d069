internal import CausewayWire

/// The receiving half of an HTTP/2 connection. It checks the peer's frames. It also enforces the flow-control windows,
/// the settings and the flood limits.
///
/// Each method that handles a frame changes the streams, and adds frames and events to the output. Such a method throws
/// only connection errors. At a stream error, it resets the stream and does not throw. This may close the last open
/// stream, so the connection can then end.
struct HTTP2Receiver: Sendable {
    private let role: HTTP2Connection.Role
    private let configuration: HTTP2Configuration
    private var settings: HTTP2OwnSettings
    private var input: HTTP2Input
    private var floods: HTTP2FloodGuard
    /// The connection's flow-control window. It limits the content of all streams together.
    private var window = HTTP2ReceiveWindow(size: 65535)
    /// The initial flow-control window of a new stream in bytes. Until the peer acknowledges this side's settings, two
    /// values are possible: the protocol's default, and the size in these settings. This is then the larger value.
    private var initialWindowSize: Int
    private var earlyPriorities = HTTP2EarlyPriorities()

    init(_ role: HTTP2Connection.Role, _ configuration: HTTP2Configuration) {
        self.role = role
        self.configuration = configuration
        settings = HTTP2OwnSettings(configuration)
        input = HTTP2Input(configuration)
        floods = HTTP2FloodGuard(burst: configuration.floodBurst, perSecond: configuration.floodRate)
        initialWindowSize = max(HTTP2Settings().initialWindowSize, configuration.settings.initialWindowSize)
    }

    /// The receive window of a new stream.
    var initialWindow: HTTP2ReceiveWindow { HTTP2ReceiveWindow(size: initialWindowSize) }
    /// The number of content bytes that the peer is permitted to send now on all streams together.
    var availableWindow: Int { window.available }
    /// The time by which the peer must acknowledge the settings; `nil` if this host waits for no acknowledgment.
    var settingsDeadline: Duration? { settings.deadline }
    /// Whether all received frames and field blocks are complete.
    var isComplete: Bool { input.isComplete }

    // MARK: Settings

    /// Sends this side's settings and the window of the connection.
    mutating func started(_ output: inout HTTP2Output, at now: Duration) {
        settings.send(at: now, &output)
        input.permit(configuration.settings)
        if let increment = window.grow(to: configuration.connectionWindow) {
            output.append(.windowUpdate(UInt32(clamping: increment)))
        }
    }

    /// Applies this side's settings, because the peer has just acknowledged them (RFC 9113 §6.5.3).
    mutating func acknowledged(_ streams: inout HTTP2Streams, at now: Duration) throws(HTTP2Violation) {
        try settings.acknowledged(at: now)
        input.apply(configuration.settings)
        let difference = configuration.settings.initialWindowSize - initialWindowSize
        guard difference != 0 else { return }
        initialWindowSize = configuration.settings.initialWindowSize
        streams.resizeReceiveWindows(by: difference)
    }

    // MARK: Flood guard

    /// Charges one frame to the flood guard. The flood guard has a budget for frames that do not advance a message.
    ///
    /// - Throws: A connection error if the budget is empty.
    mutating func chargeChore(_ what: String, at now: Duration) throws(HTTP2Violation) {
        try floods.chargeChore(what, at: now)
    }

    /// Records that this side sent a DATA frame. The peer answers it with WINDOW_UPDATE frames, which must not count as
    /// a flood.
    mutating func sentContent() { floods.sentContent() }

    // MARK: Frames

    mutating func append(_ bytes: ArraySlice<UInt8>) { input.append(bytes) }

    mutating func next() throws(HTTP2Violation) -> HTTP2FrameReader.Item? { try input.next() }

    /// Discards incomplete frames and field blocks.
    mutating func discard() { input.discard() }

    /// Handles a frame whose payload is invalid. A stream error becomes a connection error in two cases: the stream is
    /// idle, or the protocol required another frame, such as SETTINGS or CONTINUATION.
    mutating func refused(
        _ violation: HTTP2Violation, isOpen: Bool, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output,
        at now: Duration
    ) throws(HTTP2Violation) {
        guard case .stream(let id) = violation.scope, isOpen, !input.isInsideBlock, !streams.isIdle(id) else {
            throw HTTP2Violation(violation.code, violation.reason)
        }
        try fail(violation, &streams, &output, at: now)
    }

    /// Resets a stream after a stream error (RFC 9113 §5.4.2).
    private mutating func fail(
        _ violation: HTTP2Violation, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) {
        guard case .stream(let id) = violation.scope else { throw violation }
        try floods.chargeReset(at: now)
        streams.fail(id, violation.code, .violation(violation), &output)
    }

    /// Handles a frame on a stream. DATA frames are handled separately.
    ///
    /// - Parameter last: The last stream that this side accepts; `nil` if this side is not shutting down.
    /// - Returns: Whether the frame ended a request whose content this side discards. Only a header section with the
    ///   END_STREAM flag does so.
    mutating func received(
        _ frame: HTTP2Frame, _ header: HTTP2FrameHeader, upTo last: HTTP2StreamID?, _ streams: inout HTTP2Streams,
        _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) -> Bool {
        let id = header.streamID
        switch frame {
        case .headers(let frame):
            try streams.checkHeaders(on: id)
            guard frame.endsHeaders else {
                input.beginBlock(header, frame)
                return false
            }
            let block = try input.decode(frame.fragment.span)
            return try received(block, on: id, endsStream: frame.endsStream, upTo: last, &streams, &output, at: now)
        case .continuation(let fragment, let endsHeaders):
            guard let whole = try input.continueBlock(id, fragment, endsHeaders: endsHeaders) else { return false }
            let block = try input.decode(whole.block.span)
            return try received(block, on: id, endsStream: whole.endsStream, upTo: last, &streams, &output, at: now)
        case .resetStream(let code): try receivedReset(code, on: id, &streams, &output, at: now)
        case .windowUpdate(let increment): try granted(Int(increment), to: id, &streams, &output, at: now)
        case .priorityUpdate(let id, let value): try receivedPriority(value, of: id, &streams, at: now)
        case .priority, .unknown: try floods.chargeChore("\(header.name) frames", at: now)
        case .pushPromise: throw HTTP2Violation(.protocolError, "PUSH_PROMISE frame")
        case .data, .settings, .settingsAcknowledgment, .ping, .goAway: break
        }
        return false
    }

    /// Handles a RST_STREAM frame (RFC 9113 §6.4).
    private mutating func receivedReset(
        _ code: HTTP2ErrorCode, on id: HTTP2StreamID, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output,
        at now: Duration
    ) throws(HTTP2Violation) {
        guard !streams.isIdle(id) else { throw HTTP2Violation(.protocolError, "RST_STREAM frame on idle stream \(id)") }
        guard !streams.endDraining(id) else { return }
        // A client does not count resets of its open streams toward the flood limit. The client opened each of these
        // streams, and the server can reset each stream only once.
        if role == .server || !streams.contains(id) { try floods.chargeReset(at: now) }
        streams.receivedReset(id, code, &output)
    }

    /// Handles a WINDOW_UPDATE frame (RFC 9113 §6.9).
    private mutating func granted(
        _ increment: Int, to id: HTTP2StreamID, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output,
        at now: Duration
    ) throws(HTTP2Violation) {
        let isUseful = increment >= HTTP2FloodGuard.usefulCredit && (id == 0 || streams.contains(id))
        if !isUseful { try floods.chargeChore("WINDOW_UPDATE frames", at: now) }
        guard id != 0 else { return try streams.granted(increment) }
        guard !streams.isIdle(id) else {
            throw HTTP2Violation(.protocolError, "WINDOW_UPDATE frame on idle stream \(id)")
        }
        guard let violation = streams.granted(increment, to: id) else { return }
        try fail(violation, &streams, &output, at: now)
    }

    /// Handles a PRIORITY_UPDATE frame (RFC 9218 §7.1).
    private mutating func receivedPriority(
        _ value: ArraySlice<UInt8>, of id: HTTP2StreamID, _ streams: inout HTTP2Streams, at now: Duration
    ) throws(HTTP2Violation) {
        guard role == .server else { throw HTTP2Violation(.protocolError, "PRIORITY_UPDATE frame of a server") }
        try floods.chargeChore("PRIORITY_UPDATE frames", at: now)
        guard id % 2 == 1 else { throw HTTP2Violation(.protocolError, "priority of stream \(id)") }
        let priority = HTTPPriority(parsing: value)
        guard streams.isIdle(id) else { return streams.changePriority(priority, of: id) }
        earlyPriorities.set(priority, of: id)
        // An idle stream can count toward the limit on concurrent streams. It counts if the client has sent a priority
        // for it. The limit applies only after the client has acknowledged it.
        guard let limit = settings.acknowledgedStreamLimit, streams.count + earlyPriorities.count > limit else {
            return
        }
        throw HTTP2Violation(.protocolError, "priorities of more than \(limit) streams")
    }
}

// MARK: - Content

extension HTTP2Receiver {
    /// Counts a whole DATA frame against the flow-control windows when its first piece arrives. Checks that the
    /// stream's state permits the frame (RFC 9113 §5.1, §6.9).
    ///
    /// - Returns: `true` if the frame is the last of a request whose content this side discards.
    mutating func began(
        _ piece: HTTP2DataPiece, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) -> Bool {
        let id = piece.streamID
        guard !streams.isIdle(id) else { throw HTTP2Violation(.protocolError, "DATA frame on idle stream \(id)") }
        guard window.receive(piece.flowControlledCount) else {
            throw HTTP2Violation(.flowControlError, "content beyond the window of the connection")
        }
        if piece.flowControlledCount == piece.paddingCount, !piece.endsStream {
            try floods.chargeChore("DATA frames without content", at: now)
        }
        guard streams.contains(id) else { return try beganLate(piece, &streams, &output, at: now) }
        let limit = configuration.maximumStreamWindow
        let pace = settings.roundTrip.map { HTTP2ReceiveWindow.Pace(limit: limit, roundTrip: $0, now: now) }
        if let mistake = streams.mistake(in: piece, pace) { try fail(mistake, &streams, &output, at: now) }
        return false
    }

    /// Handles a DATA frame on a closed stream (RFC 9113 §5.1).
    private mutating func beganLate(
        _ piece: HTTP2DataPiece, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) -> Bool {
        let id = piece.streamID
        switch streams.closing(of: id) {
        case .draining: return piece.endsStream ? streams.endDraining(id) : false
        // Ignore the frame: the peer may have sent it before this side's RST_STREAM frame arrived.
        case .byReset: break
        case .byPeer: throw HTTP2Violation(.streamClosed, "DATA frame on closed stream \(id)")
        case nil:
            try floods.chargeReset(at: now)
            streams.refuse(id, .streamClosed, &output)
        }
        return false
    }

    /// Handles a piece of a DATA frame (RFC 9113 §6.1). If the stream still accepts content, reports the content in the
    /// piece.
    ///
    /// Padding and discarded content count as consumed immediately. The peer therefore gets flow-control credit for
    /// these bytes.
    mutating func received(_ piece: HTTP2DataPiece, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output) {
        let id = piece.streamID
        guard streams.awaitsContent(id) else { return credit(piece.bytes.count + piece.paddingCount, &output) }
        if piece.paddingCount > 0 { credit(piece.paddingCount, of: id, &streams, &output) }
        streams.received(piece, &output)
    }

    /// Gives the peer credit for consumed content.
    mutating func credit(
        _ count: Int, of id: HTTP2StreamID, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output
    ) {
        credit(count, &output)
        streams.credit(count, of: id, &output)
    }

    private mutating func credit(_ count: Int, _ output: inout HTTP2Output) {
        guard let increment = window.credit(count, isShared: true) else { return }
        output.append(.windowUpdate(UInt32(clamping: increment)))
    }
}

// MARK: - Heads

extension HTTP2Receiver {
    /// Handles a complete field block.
    ///
    /// - Returns: `true` if the block ended a request whose content this side discards.
    private mutating func received(
        _ block: HPACKFieldBlock, on id: HTTP2StreamID, endsStream: Bool, upTo last: HTTP2StreamID?,
        _ streams: inout HTTP2Streams, _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) -> Bool {
        if let stream = streams[id] {
            try received(block, on: stream, endsStream: endsStream, &streams, &output, at: now)
            return false
        }
        guard role == .server, streams.isIdle(id) else { return endsStream ? streams.endDraining(id) : false }
        try receivedRequest(block, on: id, endsStream: endsStream, upTo: last, &streams, &output, at: now)
        return false
    }

    /// Handles a response head or a trailer section on an open stream.
    private mutating func received(
        _ block: HPACKFieldBlock, on stream: HTTP2Stream, endsStream: Bool, _ streams: inout HTTP2Streams,
        _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) {
        let id = stream.id
        guard stream.receiving != .ended else {
            let violation = HTTP2Violation(.streamClosed, stream: id, "HEADERS frame after the end")
            return try fail(violation, &streams, &output, at: now)
        }
        guard !block.exceedsLimit else {
            try floods.chargeReset(at: now)
            return streams.fail(id, .enhanceYourCalm, .fieldsTooLarge, &output)
        }
        var isInterim = false
        do throws(HTTP2MalformedMessage) {
            if stream.receiving == .head {
                let head = try HTTP2ResponseHead(block)
                isInterim = head.isInformational
                try streams.received(head, on: stream, endsStream: endsStream, &output)
            } else {
                let trailers = try stream.trailers(in: block, endsStream: endsStream)
                streams.received(trailers, on: id, &output)
            }
        } catch {
            try fail(HTTP2Violation(.protocolError, stream: id, error.reason), &streams, &output, at: now)
        }
        if isInterim { try floods.chargeChore("interim responses", at: now) }
    }

    /// Opens a stream for a request (RFC 9113 §5.1.2, §8.1).
    private mutating func receivedRequest(
        _ block: HPACKFieldBlock, on id: HTTP2StreamID, endsStream: Bool, upTo last: HTTP2StreamID?,
        _ streams: inout HTTP2Streams, _ output: inout HTTP2Output, at now: Duration
    ) throws(HTTP2Violation) {
        streams.peerOpened(id)
        let early = earlyPriorities.take(id)
        // The peer opened this stream after GOAWAY, with a number above the last stream identifier. Ignore the request.
        // The client can retry it on another connection (RFC 9113 §6.8).
        if let last, id > last { return streams.ignore(id) }
        guard streams.count + streams.drainingCount < configuration.settings.maxConcurrentStreams ?? .max else {
            return try refuse(id, .refusedStream, &streams, &output, at: now)
        }
        guard !block.exceedsLimit else {
            try floods.chargeReset(at: now)
            return streams.answerTooLarge(id, endsStream: endsStream, &output)
        }
        do throws(HTTP2MalformedMessage) {
            let head = try HTTP2RequestHead(block, allowsProtocol: configuration.settings.enablesConnectProtocol)
            try streams.received(head, on: id, endsStream: endsStream, early, initialWindow, &output)
        } catch {
            try refuse(id, .protocolError, &streams, &output, at: now)
        }
    }

    /// Resets a stream that was not reported to the program.
    private mutating func refuse(
        _ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ streams: inout HTTP2Streams, _ output: inout HTTP2Output,
        at now: Duration
    ) throws(HTTP2Violation) {
        try floods.chargeReset(at: now)
        streams.refuse(id, code, &output)
    }
}
