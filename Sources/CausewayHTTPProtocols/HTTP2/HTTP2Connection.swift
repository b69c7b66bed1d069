package import CausewayProtocols
internal import CausewayTypes
package import CausewayWire

/// One side of an HTTP/2 connection (RFC 9113), over any byte stream.
///
/// The caller passes in received bytes and the time, and takes out events and the bytes to send. A
/// ``Event/content(_:_:endsStream:)`` event has bytes for the program. When the program has consumed them, the caller
/// must report this with ``took(_:of:)``, which gives the peer flow-control credit. For any input, each stream's final
/// event is exactly one ``Event/closed(_:_:)``, and the connection's final event is exactly one ``Event/ended(_:)``.
package struct HTTP2Connection: Sendable {
    package let role: Role
    private let configuration: HTTP2Configuration
    private var life: HTTP2Lifecycle
    private var receiver: HTTP2Receiver
    private var streams: HTTP2Streams
    private var pings = HTTP2Pings()
    private var output = HTTP2Output()

    package init(_ role: Role, configuration: HTTP2Configuration = HTTP2Configuration()) {
        self.role = role
        self.configuration = configuration.validated(for: role)
        life = HTTP2Lifecycle(role)
        receiver = HTTP2Receiver(role, self.configuration)
        streams = HTTP2Streams(role, firstID: self.configuration.firstStreamID)
    }

    /// The maximum number of concurrent requests before the server's settings arrive. RFC 9113 §6.5.2 recommends that
    /// servers permit at least this number.
    package static let assumedConcurrentStreams = 100
    /// The client connection preface (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package var hasEnded: Bool { life.hasEnded }
    /// Whether the connection has ended and all output has been taken.
    package var isFinished: Bool { hasEnded && output.controlByteCount == 0 }
    /// The size in bytes of the queued frames that carry no content. ``nextOutput(atMost:)`` returns these frames.
    var controlByteCount: Int { output.controlByteCount }
    /// Content bytes that this side may still send on all streams together.
    var sendWindow: Int { streams.sendWindow }
    /// The number of content bytes that the peer is permitted to send now on all streams together.
    var receiveWindow: Int { receiver.availableWindow }
    /// The open stream count, including waiting requests.
    package var streamCount: Int { streams.count }
    /// The peer's current settings.
    package var peerSettings: HTTP2Settings { streams.peerSettings }
    /// Whether the connection accepts new requests.
    package var acceptsRequests: Bool { role == .client && life.acceptsStreams && !streams.isExhausted }

    /// Returns a stream's priority; `nil` if the stream is closed.
    package func priority(of id: HTTP2StreamID) -> HTTPPriority? { streams[id]?.priority }

    /// Returns the number of a stream's content bytes that ``nextOutput(atMost:)`` has not returned yet.
    package func queuedByteCount(of id: HTTP2StreamID) -> Int { streams[id]?.queuedByteCount ?? 0 }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? { output.takeEvent() }

    /// Starts the connection: queues the preface and the settings (RFC 9113 §3.4). Only the first call has an effect.
    package mutating func started(at now: Duration) {
        guard life.start() else { return }
        if role == .client { output.append(raw: Self.preface) }
        receiver.started(&output, at: now)
    }
}

extension HTTP2Connection: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}

// MARK: - Sending

extension HTTP2Connection {
    /// Sends a request, or queues it until the server permits another stream. May be called before the server's
    /// settings arrive.
    ///
    /// - Returns: The stream identifier.
    package mutating func request(
        _ head: HTTP2RequestHead, endsStream: Bool, priority: HTTPPriority? = nil
    ) throws(HTTP2Refusal) -> HTTP2StreamID {
        guard !streams.isExhausted else { throw .exhausted }
        guard acceptsRequests else { throw .closing }
        return try streams.request(head, endsStream: endsStream, priority, receiver.initialWindow, &output)
    }

    /// Sends a response head. After an interim head, further heads may follow.
    package mutating func respond(
        _ id: HTTP2StreamID, _ head: HTTP2ResponseHead, endsStream: Bool
    ) throws(HTTP2Refusal) {
        try streams.respond(id, head, endsStream: endsStream, &output)
        endIfDone()
    }

    /// Queues content for a stream. The content is sent when the peer's flow-control windows have space for it. When
    /// the queue is empty, ``Event/drained(_:)`` is reported.
    package mutating func send(
        _ id: HTTP2StreamID, _ bytes: ByteChain, endsStream: Bool = false
    ) throws(HTTP2Refusal) {
        try streams.send(id, bytes, endsStream ? .endOfStream : .none, &output)
        endIfDone()
    }

    /// Sends the trailer section after all content. This ends the message.
    package mutating func sendTrailers(_ id: HTTP2StreamID, _ fields: FieldSection) throws(HTTP2Refusal) {
        if let mistake = fields.mistakeInSending { throw .invalid(mistake) }
        try streams.send(id, ByteChain(), .trailers(fields), &output)
        endIfDone()
    }

    /// Resets a stream and discards its unsent content. If the request is still waiting to be sent, it is removed
    /// without sending a frame.
    package mutating func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode = .cancel) {
        streams.reset(id, code, &output)
        endIfDone()
    }

    /// Closes a server stream whose response is complete but whose request is not (RFC 9113 §8.1). Call ``settle(at:)``
    /// afterwards, which starts the stream's timeout.
    ///
    /// Further content is discarded. After ``HTTP2Configuration/drainTime`` the stream is reset with NO_ERROR. RFC 9113
    /// permits an immediate reset. But a client that receives the reset together with the response may lose the
    /// response. For example, curl 7.88 then reports an error.
    package mutating func discardRequest(_ id: HTTP2StreamID) {
        streams.discardRequest(id, &output)
        endIfDone()
    }

    /// Starts the timeouts of the streams that ``discardRequest(_:)`` has closed since the previous call. First handle
    /// all events at the current time. Then call this method with that time.
    package mutating func settle(at now: Duration) { streams.setDrainDeadlines(now + configuration.drainTime) }

    /// Changes a stream's priority. A client also notifies the server (RFC 9218 §7).
    package mutating func setPriority(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        streams.setPriority(id, priority, &output)
    }

    /// Sends a ping. ``Event/pingAnswered(_:)`` reports its acknowledgment. Returns `false` without sending if too many
    /// pings are pending.
    @discardableResult
    package mutating func sendPing(_ token: UInt64) -> Bool {
        guard !life.hasEnded, pings.sent(token) else { return false }
        output.append(.ping(token))
        return true
    }

    /// Removes and returns the next bytes to send: all pending control frames and at most `limit` bytes of content.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        guard limit > 0 else { return nil }
        var chunk = ByteChain(output.takeControl())
        while streams.appendContent(to: &chunk, atMost: limit - chunk.count, &output) {
            receiver.sentContent()
            endIfDone()
            // If a message has no more content, its trailers follow now. If its stream has closed too, a waiting
            // request can begin. Then that request's head follows now, and the loop may continue with that request's
            // content.
            if output.controlByteCount > 0 { chunk.append(output.takeControl()) }
        }
        return chunk.isEmpty ? nil : chunk
    }
}

// MARK: - Receiving

extension HTTP2Connection {
    /// Gives the peer flow-control credit after the program has consumed content.
    ///
    /// - Parameters:
    ///   - count: The number of bytes. Every byte of a ``Event/content(_:_:endsStream:)`` event must be reported
    ///     once, even after the stream is closed.
    ///   - id: The stream.
    package mutating func took(_ count: Int, of id: HTTP2StreamID) {
        guard !life.hasEnded, count > 0 else { return }
        receiver.credit(count, of: id, &streams, &output)
    }

    /// Lets the peer send more content on a stream. The credit is for content that the program will not consume.
    ///
    /// The content is still in memory. So its bytes count in the connection's window until ``took(_:of:)`` is called
    /// for them.
    mutating func abandoned(_ count: Int, of id: HTTP2StreamID) {
        guard !life.hasEnded, count > 0 else { return }
        streams.credit(count, of: id, &output)
    }

    /// Decodes received bytes. This may add events and output.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        guard !life.hasEnded else { return }
        do {
            let rest = try life.matchPreface(bytes)
            receiver.append(rest)
            while !life.hasEnded, let item = try nextItem(at: now) { try handle(item, at: now) }
        } catch {
            // During a shutdown, the last stream may have closed before this violation was found. The connection then
            // ends normally, and the violation is not reported.
            endIfDone()
            fail(error)
        }
    }

    /// Decodes received bytes. This may add events and output.
    package mutating func received(_ bytes: ByteChain, at now: Duration) {
        var bytes = bytes
        while let piece = bytes.popPiece() { received(piece, at: now) }
    }

    /// Returns the next item from the frame reader, and handles the reader's stream errors.
    private mutating func nextItem(at now: Duration) throws(HTTP2Violation) -> HTTP2FrameReader.Item? {
        while true {
            do {
                return try receiver.next()
            } catch {
                try receiver.refused(error, isOpen: life.isOpen, &streams, &output, at: now)
                endIfDone()
            }
        }
    }

    private mutating func handle(_ item: HTTP2FrameReader.Item, at now: Duration) throws(HTTP2Violation) {
        try life.checkOrder(item)
        switch item {
        case .data(let piece): try received(piece, at: now)
        case .frame(let header, let frame): try handle(header, frame, at: now)
        }
    }

    /// Handles a piece of a DATA frame (RFC 9113 §6.1).
    private mutating func received(_ piece: HTTP2DataPiece, at now: Duration) throws(HTTP2Violation) {
        if piece.isFirst {
            let endsDiscarded = try receiver.began(piece, &streams, &output, at: now)
            endIfDone()
            if endsDiscarded { sendPing(HTTP2Pings.drainToken) }
            // If this frame has ended the last stream, the connection has ended too. In that case, nothing is left to
            // do.
            guard !life.hasEnded else { return }
        }
        receiver.received(piece, &streams, &output)
        endIfDone()
    }

    private mutating func handle(
        _ header: HTTP2FrameHeader, _ frame: HTTP2Frame, at now: Duration
    ) throws(HTTP2Violation) {
        switch frame {
        case .settings(let settings): try receivedSettings(settings, at: now)
        case .settingsAcknowledgment: try receiver.acknowledged(&streams, at: now)
        case .ping(let data, let isAcknowledgment):
            try receivedPing(data, isAcknowledgment: isAcknowledgment, at: now)
        case .goAway(let last, let code, let debugData): try receivedGoAway(last, code, Array(debugData), at: now)
        case .data, .headers, .priority, .resetStream, .pushPromise, .windowUpdate, .continuation, .priorityUpdate,
            .unknown:
            let endsDiscarded = try receiver.received(
                frame, header, upTo: life.lastAcceptedID, &streams, &output, at: now)
            endIfDone()
            if endsDiscarded { sendPing(HTTP2Pings.drainToken) }
        }
    }

    /// Handles a SETTINGS frame (RFC 9113 §6.5).
    private mutating func receivedSettings(_ settings: [HTTP2Setting], at now: Duration) throws(HTTP2Violation) {
        if !life.receivedSettings() { try receiver.chargeChore("SETTINGS frames", at: now) }
        var new = streams.peerSettings
        for setting in settings {
            if role == .client, setting.identifier == .enablePush, setting.value != 0 {
                throw HTTP2Violation(.protocolError, "SETTINGS_ENABLE_PUSH of a server")
            }
            try new.apply(setting)
        }
        output.setHeaderTableSize(new.headerTableSize)
        try streams.apply(peer: new)
        try output.reply(.settingsAcknowledgment)
        output.report(.settings(new))
        streams.startWaiting(&output)
    }

    /// Handles a PING frame (RFC 9113 §6.7).
    private mutating func receivedPing(
        _ data: UInt64, isAcknowledgment: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        guard isAcknowledgment else {
            try receiver.chargeChore("PING frames", at: now)
            return try output.reply(.ping(data, isAcknowledgment: true))
        }
        if data == HTTP2Pings.shutdownToken, life.shutdownDeadline != nil { return finishShutdown() }
        guard pings.acknowledged(data) else { return try receiver.chargeChore("answers to PING frames", at: now) }
        output.report(.pingAnswered(data))
    }

    /// Handles a GOAWAY frame (RFC 9113 §6.8). A graceful shutdown sends two of them.
    private mutating func receivedGoAway(
        _ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8], at now: Duration
    ) throws(HTTP2Violation) {
        try receiver.chargeChore("GOAWAY frames", at: now)
        try life.receivedGoAway(last, code, debugData)
        output.report(.goAway(code, lastStreamID: last, debugData: debugData))
        if role == .client { streams.closeUnprocessed(after: last, &output) }
        endIfDone()
    }
}

// MARK: - Ending

extension HTTP2Connection {
    /// The time at which the owner must next call ``advance(to:)``. `nil` if no timer is running.
    package var deadline: Duration? {
        guard !life.hasEnded else { return nil }
        var next = streams.firstDrainDeadline
        if let settings = receiver.settingsDeadline { next = min(next ?? settings, settings) }
        if let shutdown = life.shutdownDeadline { next = min(next ?? shutdown, shutdown) }
        return next
    }

    /// Handles expired timeouts. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) {
        guard !life.hasEnded else { return }
        if let deadline = receiver.settingsDeadline, now >= deadline {
            return fail(HTTP2Violation(.settingsTimeout, "settings without an acknowledgment"))
        }
        streams.resetDrained(at: now, &output)
        endIfDone()
        if let deadline = life.shutdownDeadline, now >= deadline { finishShutdown() }
    }

    /// Records that the peer closed its side of the byte stream (RFC 9113 §5.4.3).
    package mutating func inputEnded() {
        guard !life.hasEnded else { return }
        if let failure = life.peerFailure { return end(failure) }
        let isClean = streams.count == 0 && life.isOpen && receiver.isComplete
        end(isClean ? nil : .endedEarly)
    }

    /// Shuts down gracefully: the connection accepts no new streams, and ends when all open streams are closed
    /// (RFC 9113 §6.8).
    ///
    /// A server first sends GOAWAY with the largest stream identifier. When the requests in flight have arrived, it
    /// sends GOAWAY with the actual last stream identifier.
    package mutating func shutDown(at now: Duration) {
        life.shutDown(after: streams.lastPeerID, until: now + configuration.settingsTimeout, &output)
        endIfDone()
    }

    /// Accepts no further streams from the peer, and ends the connection when all open streams are closed. A server
    /// ignores requests that the client sends before it receives the GOAWAY frame. The client can retry them (RFC 9113
    /// §6.8).
    package mutating func finishAccepting() {
        life.finishAccepting(after: streams.lastPeerID, &output)
        endIfDone()
    }

    private mutating func finishShutdown() {
        life.finishShutdown(after: streams.lastPeerID, &output)
        endIfDone()
    }

    /// Ends the connection at once, with a GOAWAY frame. Open streams fail.
    package mutating func abort(_ code: HTTP2ErrorCode = .noError) {
        guard !life.hasEnded else { return }
        life.interrupt(code, "", after: streams.lastPeerID, &output)
        end(.aborted)
    }

    /// Ends the connection after a connection error (RFC 9113 §5.4.1).
    private mutating func fail(_ violation: HTTP2Violation) {
        guard !life.hasEnded else { return }
        life.interrupt(violation.code, violation.reason, after: streams.lastPeerID, &output)
        end(.violation(violation))
    }

    /// Ends the connection if it is shutting down and its last stream has closed.
    private mutating func endIfDone() {
        guard life.mayEnd, streams.count == 0, streams.drainingCount == 0 else { return }
        let failure = life.answerGoAway(after: streams.lastPeerID, &output)
        end(failure)
    }

    /// Enters the final state, and queues the final events. Only this method ends the connection.
    private mutating func end(_ failure: HTTP2ConnectionFailure?) {
        guard life.ended() else { return }
        streams.removeAll(&output)
        receiver.discard()
        output.report(.ended(failure))
    }
}
