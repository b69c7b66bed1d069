import CausewayProtocols

internal import CausewayWire

/// The streams of one connection (RFC 9113 §5).
///
/// This type opens and closes streams. It also sends messages on them, and reports received messages. ``HTTP2Receiver``
/// decides what the peer may send on a stream.
struct HTTP2Streams: Sendable {
    private let role: HTTP2Connection.Role
    /// The peer's current settings.
    private(set) var peerSettings = HTTP2Settings()
    private var hasPeerSettings = false
    private var table = HTTP2StreamTable()
    private var schedule = HTTP2SendSchedule()
    private var requests: HTTP2RequestQueue
    /// The highest stream identifier opened by the peer.
    private(set) var lastPeerID: HTTP2StreamID = 0

    init(_ role: HTTP2Connection.Role, firstID: HTTP2StreamID) {
        self.role = role
        requests = HTTP2RequestQueue(firstID: firstID)
    }

    /// The open stream count, including waiting requests.
    var count: Int { table.count }
    /// The number of draining streams. A draining stream is closed, but its request content still arrives and is
    /// discarded.
    var drainingCount: Int { table.drainingCount }
    /// The number of content bytes that the peer permits this side to send now on all streams together.
    var sendWindow: Int { schedule.window }
    /// Whether all of a client's stream identifiers are used (RFC 9113 §5.1.1). No request is possible then.
    var isExhausted: Bool { requests.isExhausted }

    subscript(id: HTTP2StreamID) -> HTTP2Stream? { table[id] }

    func contains(_ id: HTTP2StreamID) -> Bool { table.contains(id) }

    /// Returns whether the peer is permitted to send content on a stream now.
    func awaitsContent(_ id: HTTP2StreamID) -> Bool { table[id]?.receiving == .content }

    /// Returns how a closed stream ended; `nil` if this is no longer stored.
    func closing(of id: HTTP2StreamID) -> HTTP2StreamTable.Closing? { table.closing(of: id) }

    /// Returns whether a stream is idle (RFC 9113 §5.1).
    func isIdle(_ id: HTTP2StreamID) -> Bool {
        switch role {
        case .client: id % 2 == 0 || id >= requests.nextID || table[id]?.isWaiting == true
        case .server: id % 2 == 0 || id > lastPeerID
        }
    }

    /// Checks whether the stream's state permits a HEADERS frame (RFC 9113 §5.1, §5.1.1).
    func checkHeaders(on id: HTTP2StreamID) throws(HTTP2Violation) {
        guard !isIdle(id) else {
            guard role == .server, id % 2 == 1 else {
                throw HTTP2Violation(.protocolError, "HEADERS frame on idle stream \(id)")
            }
            return
        }
        guard !table.contains(id) else { return }
        switch table.closing(of: id) {
        case .draining, .byReset: return
        case .byPeer: throw HTTP2Violation(.streamClosed, "HEADERS frame on closed stream \(id)")
        case nil: throw HTTP2Violation(.protocolError, "HEADERS frame on old stream \(id)")
        }
    }

    // MARK: Settings and windows

    /// Applies the peer's HTTP/2 settings. Call ``startWaiting(_:)`` afterwards, because the settings can permit more
    /// streams.
    mutating func apply(peer settings: HTTP2Settings) throws(HTTP2Violation) {
        let difference = settings.initialWindowSize - peerSettings.initialWindowSize
        peerSettings = settings
        hasPeerSettings = true
        if difference != 0 { try schedule.initialWindowChanged(by: difference, in: &table) }
    }

    /// Changes the receive windows of all streams by the same difference (RFC 9113 §6.9.2).
    mutating func resizeReceiveWindows(by difference: Int) {
        table.updateAll { $0.resizeReceiveWindow(by: difference) }
    }

    /// Adds the peer's credit to the window of the connection.
    mutating func granted(_ increment: Int) throws(HTTP2Violation) { try schedule.granted(increment) }

    /// Increases a stream's window by the peer's credit. Returns the protocol violation; `nil` if there is none.
    mutating func granted(_ increment: Int, to id: HTTP2StreamID) -> HTTP2Violation? {
        schedule.granted(increment, to: id, in: &table)
    }

    /// Gives the peer credit for consumed content.
    mutating func credit(_ count: Int, of id: HTTP2StreamID, _ output: inout HTTP2Output) {
        guard let increment = table.update(id, { $0.credit(count) }) ?? nil else { return }
        output.append(.windowUpdate(UInt32(clamping: increment)), on: id)
    }
}

// MARK: - Sending

extension HTTP2Streams {
    /// Sends a request, or queues it until the server permits another stream. Returns the stream identifier.
    mutating func request(
        _ head: HTTP2RequestHead, endsStream: Bool, _ priority: HTTPPriority?, _ receiveWindow: HTTP2ReceiveWindow,
        _ output: inout HTTP2Output
    ) throws(HTTP2Refusal) -> HTTP2StreamID {
        if let mistake = head.mistake { throw .invalid(mistake) }
        guard head.protocolName == nil || peerSettings.enablesConnectProtocol else { throw .invalid(":protocol") }
        var head = head
        if let priority, !priority.fieldValue.isEmpty, !head.fields.contains("priority") {
            head.fields.append("priority", priority.fieldValue)
        }
        let id = requests.takeID()
        var stream = HTTP2Stream(
            id: id, sending: .waiting, receiving: .head, receiveWindow: receiveWindow, sendWindow: 0)
        stream.requested(head)
        if requests.isEmpty, permitsStream {
            table.insert(stream)
            start(id, head, endsStream: endsStream, &output)
        } else {
            stream.wait(with: head, endsStream: endsStream)
            table.insert(stream)
            requests.append(id)
        }
        return id
    }

    /// Whether the server permits another stream now.
    private var permitsStream: Bool {
        let assumed = hasPeerSettings ? Int.max : HTTP2Connection.assumedConcurrentStreams
        return table.count - requests.count < peerSettings.maxConcurrentStreams ?? assumed
    }

    /// Sends the heads of requests that wait, as long as the server's limit for open streams permits it.
    mutating func startWaiting(_ output: inout HTTP2Output) {
        while permitsStream, let id = requests.popFirst() {
            guard let request = table[id]?.request else { continue }
            start(id, request.head, endsStream: request.endsStream, &output)
        }
    }

    /// Sends a request head.
    private mutating func start(
        _ id: HTTP2StreamID, _ head: HTTP2RequestHead, endsStream: Bool, _ output: inout HTTP2Output
    ) {
        output.append(head, on: id, endsStream: endsStream)
        let window = peerSettings.initialWindowSize
        _ = table.update(id) { $0.sentRequest(endsStream: endsStream, sendWindow: window) }
        sendQueued(id, &output)
    }

    /// Sends a response head. After an interim head, further heads may follow.
    mutating func respond(
        _ id: HTTP2StreamID, _ head: HTTP2ResponseHead, endsStream: Bool, _ output: inout HTTP2Output
    ) throws(HTTP2Refusal) {
        guard let stream = table[id], role == .server, stream.sending == .head else { throw .closed }
        if let mistake = head.mistake { throw .invalid(mistake) }
        guard !head.isInformational || !endsStream else { throw .invalid("interim response as the last") }
        output.append(head, on: id, endsStream: endsStream)
        guard !head.isInformational else { return }
        _ = table.update(id) { $0.sentResponse(head.status) }
        if endsStream { endSending(id, &output) }
    }

    /// Queues content for a stream, and the end of the message if no more content follows.
    mutating func send(
        _ id: HTTP2StreamID, _ bytes: ByteChain, _ ending: HTTP2Stream.Ending, _ output: inout HTTP2Output
    ) throws(HTTP2Refusal) {
        guard let stream = table[id], stream.permitsContent else { throw .closed }
        _ = table.update(id) { $0.append(bytes, ending) }
        if stream.sending == .content { sendQueued(id, &output) }
    }

    /// Schedules a stream's queued content for sending. If there is none, ends the message.
    private mutating func sendQueued(_ id: HTTP2StreamID, _ output: inout HTTP2Output) {
        guard let stream = table[id], stream.sending == .content else { return endIfClosed(id, &output) }
        if stream.queuedByteCount == 0 { sendEnding(id, &output) } else { schedule.update(id, in: &table) }
    }

    /// Ends the message after its content, with an empty DATA frame or the trailer section. Returns `false` if the
    /// program has not ended the message.
    @discardableResult
    private mutating func sendEnding(_ id: HTTP2StreamID, _ output: inout HTTP2Output) -> Bool {
        guard let stream = table[id], stream.sending == .content else { return true }
        switch stream.ending {
        case .none: return false
        // A frame without content uses no flow-control window (RFC 9113 §6.9.1).
        case .endOfStream: output.append(.data([], endsStream: true), on: id)
        case .trailers(let fields): output.append(trailers: fields, on: id)
        }
        endSending(id, &output)
        return true
    }

    /// Appends one DATA frame of the stream that sends next. Returns `false` if no stream can send.
    mutating func appendContent(
        to chunk: inout ByteChain, atMost limit: Int, _ output: inout HTTP2Output
    ) -> Bool {
        guard let (id, part) = schedule.takePart(from: &table, atMost: limit) else { return false }
        part.serialize(streamID: id, into: &chunk)
        guard part.isLast else { return true }
        if part.endsStream {
            endSending(id, &output)
        } else if !sendEnding(id, &output) {
            output.report(.drained(id))
        }
        return true
    }

    /// Changes a stream's priority. A client also notifies the server, in one of two ways. If the request still waits
    /// to be sent, its head will carry the new priority. If the request was already sent, the client sends a
    /// PRIORITY_UPDATE frame.
    ///
    /// The client must not send this frame for a waiting request. Such a request waits because the server's stream
    /// limit is reached, so its stream is still idle. An idle stream with a priority counts toward this limit, so the
    /// frame would end the connection (RFC 9218 §7.1).
    ///
    /// After the end of the response, the client sends no frame. It also sends no frame to a server that uses the
    /// priorities of RFC 7540, because such a server probably ignores it (RFC 9218 §2.1.1).
    mutating func setPriority(_ id: HTTP2StreamID, _ priority: HTTPPriority, _ output: inout HTTP2Output) {
        guard let stream = table[id], stream.priority != priority else { return }
        if role == .client, table.update(id, { $0.changeRequest(priority) }) == false, stream.receiving != .ended,
            !hasPeerSettings || peerSettings.hasNoRFC7540Priorities
        {
            output.append(.priorityUpdate(id, Array(priority.fieldValue.utf8)[...]))
        }
        changePriority(priority, of: id)
    }

    /// Changes a stream's priority and its position in the schedule.
    mutating func changePriority(_ priority: HTTPPriority, of id: HTTP2StreamID) {
        schedule.changePriority(priority, of: id, in: &table)
    }
}

// MARK: - Receiving

extension HTTP2Streams {
    /// Records that the peer has opened a new stream with this identifier.
    mutating func peerOpened(_ id: HTTP2StreamID) { lastPeerID = id }

    /// Opens a stream for a request and reports it.
    mutating func received(
        _ head: HTTP2RequestHead, on id: HTTP2StreamID, endsStream: Bool, _ priority: HTTPPriority?,
        _ receiveWindow: HTTP2ReceiveWindow, _ output: inout HTTP2Output
    ) throws(HTTP2MalformedMessage) {
        var stream = HTTP2Stream(
            id: id, sending: .head, receiving: .content, receiveWindow: receiveWindow,
            sendWindow: peerSettings.initialWindowSize)
        try stream.receive(head, endsStream: endsStream, priority)
        table.insert(stream)
        output.report(.request(id, head, endsStream: endsStream))
        if endsStream { endReceiving(id, &output) }
    }

    mutating func received(
        _ head: HTTP2ResponseHead, on stream: HTTP2Stream, endsStream: Bool, _ output: inout HTTP2Output
    ) throws(HTTP2MalformedMessage) {
        guard !head.isInformational else {
            guard !endsStream else { throw HTTP2MalformedMessage("interim response with END_STREAM") }
            return output.report(.informational(stream.id, head))
        }
        let length = try stream.contentLength(of: head, endsStream: endsStream)
        _ = table.update(stream.id) { $0.receivedResponse(head.status, length) }
        output.report(.response(stream.id, head, endsStream: endsStream))
        if endsStream { endReceiving(stream.id, &output) }
    }

    mutating func received(_ trailers: FieldSection, on id: HTTP2StreamID, _ output: inout HTTP2Output) {
        output.report(.trailers(id, trailers))
        endReceiving(id, &output)
    }

    /// Checks and counts a DATA frame on an open stream. Returns the violation, or `nil` if there is none.
    mutating func mistake(in piece: HTTP2DataPiece, _ pace: HTTP2ReceiveWindow.Pace?) -> HTTP2Violation? {
        table.update(piece.streamID) { $0.mistake(in: piece, pace) } ?? nil
    }

    /// Reports received content on a stream that expects content.
    mutating func received(_ piece: HTTP2DataPiece, _ output: inout HTTP2Output) {
        let endsStream = piece.isLast && piece.endsStream
        if !piece.bytes.isEmpty || endsStream {
            output.report(.content(piece.streamID, piece.bytes, endsStream: endsStream))
        }
        if endsStream { endReceiving(piece.streamID, &output) }
    }

    /// Handles a RST_STREAM frame on an open stream (RFC 9113 §6.4).
    mutating func receivedReset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ output: inout HTTP2Output) {
        guard let stream = table[id] else { return }
        // After a complete response, the server may reset the stream even if the request is incomplete (RFC 9113 §8.1).
        // This is not a failure.
        let isComplete = role == .client && stream.receiving == .ended && code == .noError
        let failure: HTTP2StreamFailure? =
            isComplete ? nil : role == .client && code == .refusedStream ? .unprocessed : .reset(code)
        close(id, .byPeer, failure, &output)
    }
}

// MARK: - Closing

extension HTTP2Streams {
    private mutating func endReceiving(_ id: HTTP2StreamID, _ output: inout HTTP2Output) {
        _ = table.update(id) { $0.endReceiving() }
        endIfClosed(id, &output)
    }

    private mutating func endSending(_ id: HTTP2StreamID, _ output: inout HTTP2Output) {
        _ = table.update(id) { $0.endSending() }
        endIfClosed(id, &output)
    }

    /// Closes a stream if both its request and its response are complete.
    private mutating func endIfClosed(_ id: HTTP2StreamID, _ output: inout HTTP2Output) {
        if table[id]?.isClosed == true { close(id, .byPeer, nil, &output) }
    }

    /// Closes a stream, and reports this to the program. Every reported stream ends here, or in ``removeAll(_:)``.
    private mutating func close(
        _ id: HTTP2StreamID, _ closing: HTTP2StreamTable.Closing, _ failure: HTTP2StreamFailure?,
        _ output: inout HTTP2Output
    ) {
        guard let stream = table.close(id, closing) else { return }
        schedule.closed(stream)
        output.report(.closed(id, failure))
        startWaiting(&output)
    }

    /// Resets a stream and discards its unsent content. If its request still waits, this method removes it and sends no
    /// frame.
    mutating func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ output: inout HTTP2Output) {
        guard let stream = table[id] else { return }
        if stream.isWaiting {
            requests.remove(id)
        } else {
            output.append(.resetStream(code), on: id)
        }
        close(id, .byReset, .cancelled, &output)
    }

    /// Resets a stream because of the frames that the peer sent on it (RFC 9113 §5.4.2).
    mutating func fail(
        _ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ failure: HTTP2StreamFailure, _ output: inout HTTP2Output
    ) {
        guard table.contains(id) else { return }
        output.append(.resetStream(code), on: id)
        close(id, .byReset, failure, &output)
    }

    /// Closes the requests that the server does not process, as its GOAWAY frame states (RFC 9113 §6.8).
    mutating func closeUnprocessed(after last: HTTP2StreamID, _ output: inout HTTP2Output) {
        for id in requests.removeAll() { close(id, .byReset, .unprocessed, &output) }
        for id in table.identifiers where id > last { close(id, .byReset, .unprocessed, &output) }
    }

    /// Closes all streams at the end of the connection.
    mutating func removeAll(_ output: inout HTTP2Output) {
        for id in requests.removeAll() where table.close(id, .byReset) != nil {
            output.report(.closed(id, .unprocessed))
        }
        for id in table.identifiers {
            table.close(id, .byReset)
            output.report(.closed(id, .connectionEnded))
        }
        table.removeDraining()
        schedule.removeAll()
    }
}

// MARK: - Streams unknown to the program

extension HTTP2Streams {
    /// Ignores all frames that arrive on a stream from now on, as if this side had reset the stream.
    mutating func ignore(_ id: HTTP2StreamID) { table.remember(id, .byReset) }

    /// Resets a stream that is not in the table: a refused request, or a closed stream that is no longer remembered.
    ///
    /// Does not add the stream to the table. When the connection ends, the program is notified of the end of every
    /// stream in the table, and the program does not know this stream.
    mutating func refuse(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ output: inout HTTP2Output) {
        output.append(.resetStream(code), on: id)
        table.remember(id, .byReset)
    }

    /// Responds with status 431 to a request whose fields exceed the limits (RFC 9113 §10.5.1). The program never
    /// receives the request. ``HTTP2FloodGuard`` limits the rate at which a client can cause such responses.
    mutating func answerTooLarge(_ id: HTTP2StreamID, endsStream: Bool, _ output: inout HTTP2Output) {
        output.append(HTTP2ResponseHead(status: 431), on: id, endsStream: true)
        table.remember(id, endsStream ? .byPeer : .draining)
    }

    /// Closes a server stream with a complete response and an incomplete request (RFC 9113 §8.1).
    mutating func discardRequest(_ id: HTTP2StreamID, _ output: inout HTTP2Output) {
        guard role == .server, table[id]?.canDrain == true else { return reset(id, .noError, &output) }
        close(id, .draining, nil, &output)
    }

    /// Records that a discarded request has ended. Returns whether the stream was draining, which means that only its
    /// input was still open.
    mutating func endDraining(_ id: HTTP2StreamID) -> Bool { table.endDraining(id) }

    /// The time at which the first draining stream must be reset.
    var firstDrainDeadline: Duration? { table.firstDrainDeadline }

    /// Sets the drain deadline of all streams that have just begun to drain.
    mutating func setDrainDeadlines(_ deadline: Duration) { table.setDrainDeadlines(deadline) }

    /// Resets the streams whose time limit for draining has passed.
    mutating func resetDrained(at now: Duration, _ output: inout HTTP2Output) {
        while let id = table.takeDrained(at: now) { output.append(.resetStream(.noError), on: id) }
    }
}
