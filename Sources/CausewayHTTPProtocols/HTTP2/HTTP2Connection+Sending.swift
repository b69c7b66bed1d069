package import CausewayProtocols
package import CausewayWire
internal import DequeModule

extension HTTP2Connection {
    /// The maximum number of concurrent requests before the server's settings arrive. RFC 9113 §6.5.2 recommends that
    /// servers permit at least this number.
    package static let assumedConcurrentStreams = 100

    /// Sends a request, or queues it until the server permits another stream. May be called before the server's settings arrive.
    ///
    /// - Returns: The stream identifier.
    package mutating func request(
        _ head: HTTP2RequestHead, endsStream: Bool, priority: HTTPPriority? = nil
    ) throws(HTTP2Refusal) -> HTTP2StreamID {
        guard acceptsRequests else { throw .closing }
        guard own.nextStreamID <= .largestStream else { throw .exhausted }
        if let mistake = head.mistake { throw .invalid(mistake) }
        guard head.protocolName == nil || peer.settings.enablesConnectProtocol else { throw .invalid(":protocol") }
        var head = head
        if let priority, !priority.fieldValue.isEmpty, !head.fields.contains("priority") {
            head.fields.append("priority", priority.fieldValue)
        }
        let id = own.nextStreamID
        own.nextStreamID += 2
        var stream = HTTP2Stream(
            id: id, sending: .waiting, receiving: .head,
            receiveWindow: HTTP2ReceiveWindow(size: own.initialWindowSize), sendWindow: 0)
        stream.priority = Self.priority(head.fields)
        stream.method = HTTP2MethodKind(head)
        if own.waiting.isEmpty, permitsStream {
            streams.insert(stream)
            start(id, head, endsStream: endsStream)
        } else {
            stream.request = HTTP2WaitingRequest(head, endsStream: endsStream)
            streams.insert(stream)
            own.waiting.append(id)
        }
        return id
    }

    /// Whether the server permits another stream now.
    private var permitsStream: Bool {
        let assumed = phase == .firstSettings ? Self.assumedConcurrentStreams : .max
        return streams.count - own.waiting.count < peer.settings.maxConcurrentStreams ?? assumed
    }

    /// Sends waiting requests, up to the server's limit.
    mutating func startWaiting() {
        while permitsStream, let id = own.waiting.popFirst() {
            guard let request = streams[id]?.request else { continue }
            start(id, request.head, endsStream: request.endsStream)
        }
    }

    /// Sends a request head.
    private mutating func start(_ id: HTTP2StreamID, _ head: HTTP2RequestHead, endsStream: Bool) {
        output.appendBlock(on: id, endsStream: endsStream) { encoder, bytes in
            head.encode(with: &encoder, to: &bytes)
        }
        let initial = peer.settings.initialWindowSize
        _ = streams.update(id) { stream in
            stream.request = nil
            stream.sending = endsStream ? .ended : .content
            stream.sendWindow = initial
        }
        sendQueued(id)
    }

    /// Sends a response head. Further heads may follow an interim one.
    package mutating func respond(
        _ id: HTTP2StreamID, _ head: HTTP2ResponseHead, endsStream: Bool
    ) throws(HTTP2Refusal) {
        guard let stream = streams[id], role == .server, stream.sending == .head, phase != .ended else {
            throw .closed
        }
        if let mistake = head.mistake { throw .invalid(mistake) }
        guard !head.isInformational || !endsStream else { throw .invalid("interim response as the last") }
        output.appendBlock(on: id, endsStream: endsStream) { encoder, bytes in
            head.encode(with: &encoder, to: &bytes)
        }
        guard !head.isInformational else { return }
        let opensTunnel = stream.method == .connect && (200...299).contains(head.status)
        _ = streams.update(id) { stream in
            stream.sending = .content
            if opensTunnel { stream.method = .tunnel }
        }
        if endsStream { endSending(id) }
    }

    /// Queues content for a stream, which is sent as the peer's flow-control windows permit. ``Event/drained(_:)``
    /// reports an empty queue.
    package mutating func send(
        _ id: HTTP2StreamID, _ bytes: ByteChain, endsStream: Bool = false
    ) throws(HTTP2Refusal) {
        try queue(id, bytes, endsStream ? .endOfStream : .none)
    }

    /// Sends the trailer section after all content. This ends the message.
    package mutating func sendTrailers(_ id: HTTP2StreamID, _ fields: FieldSection) throws(HTTP2Refusal) {
        if let mistake = fields.mistakeInSending { throw .invalid(mistake) }
        try queue(id, ByteChain(), .trailers(fields))
    }

    private mutating func queue(
        _ id: HTTP2StreamID, _ bytes: ByteChain, _ ending: HTTP2Stream.Ending
    ) throws(HTTP2Refusal) {
        guard let stream = streams[id], phase != .ended, stream.ending == .none else { throw .closed }
        guard stream.sending == .content || stream.request?.endsStream == false else { throw .closed }
        _ = streams.update(id) { stream in
            stream.queue.append(bytes)
            stream.ending = ending
        }
        if stream.sending == .content { sendQueued(id) }
    }

    /// Schedules a stream's queued content. If there is none, sends the end of the message.
    private mutating func sendQueued(_ id: HTTP2StreamID) {
        guard let stream = streams[id], stream.sending == .content else {
            return endIfClosed(id)
        }
        if stream.queue.isEmpty { sendEnding(id) } else { reschedule(id) }
    }

    /// Ends the message after its content, with an empty DATA frame or the trailer section. Returns `false` if the
    /// program has not ended the message.
    @discardableResult
    mutating func sendEnding(_ id: HTTP2StreamID) -> Bool {
        guard let stream = streams[id], stream.sending == .content else { return true }
        switch stream.ending {
        case .none: return false
        // An empty frame needs no window (RFC 9113 §6.9.1).
        case .endOfStream: output.append(.data([], endsStream: true), on: id)
        case .trailers(let fields):
            output.appendBlock(on: id, endsStream: true) { encoder, bytes in
                encoder.beginBlock(&bytes)
                fields.encode(with: &encoder, to: &bytes)
            }
        }
        endSending(id)
        return true
    }

    /// Resets a stream and discards its unsent content. A waiting request is removed without sending a frame.
    package mutating func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode = .cancel) {
        guard phase != .ended, let stream = streams[id] else { return }
        if stream.isWaiting {
            own.waiting.removeAll { $0 == id }
        } else {
            output.append(.resetStream(code), on: id)
        }
        close(id, .byReset, .cancelled)
    }

    /// Returns a stream's priority; `nil` if the stream is closed.
    package func priority(of id: HTTP2StreamID) -> HTTPPriority? { streams[id]?.priority }

    /// Changes a stream's priority. A client also notifies the server (RFC 9218 §7).
    package mutating func setPriority(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        guard phase != .ended, let stream = streams[id], stream.priority != priority else { return }
        if role == .client { announce(priority, of: stream) }
        changePriority(id, priority)
    }

    /// Notifies the server of a stream's new priority: in the request if it waits, otherwise in a frame.
    ///
    /// A waiting request has an idle stream, and the server's limit is reached. It counts idle streams with a priority like open ones, so a
    /// frame would end the connection (RFC 9218 §7.1). No frame is sent after the response, or to a server that follows RFC 7540, which
    /// probably ignores it (RFC 9218 §2.1.1).
    private mutating func announce(_ priority: HTTPPriority, of stream: HTTP2Stream) {
        let value = priority.fieldValue
        if let request = stream.request {
            var head = request.head
            head.fields.removeAll("priority")
            if !value.isEmpty { head.fields.append("priority", value) }
            _ = streams.update(stream.id) { stream in
                stream.request = HTTP2WaitingRequest(head, endsStream: request.endsStream)
            }
        } else if stream.receiving != .ended, phase == .firstSettings || peer.settings.hasNoRFC7540Priorities {
            output.append(.priorityUpdate(stream.id, Array(value.utf8)[...]))
        }
    }

    /// Sends a ping. ``Event/pingAnswered(_:)`` reports its acknowledgment. Returns `false` without sending if too many pings are pending.
    @discardableResult
    package mutating func sendPing(_ token: UInt64) -> Bool {
        guard phase != .ended, own.pings.count < HTTP2OwnState.maximumPingCount else { return false }
        own.pings.append(token)
        output.append(.ping(token))
        return true
    }

    /// Returns the number of a stream's content bytes that ``nextOutput(atMost:)`` has not returned yet.
    package func queuedByteCount(of id: HTTP2StreamID) -> Int { streams[id]?.queue.count ?? 0 }

    /// Adds a stream to the schedule if it can send content. Otherwise removes it.
    mutating func reschedule(_ id: HTTP2StreamID) {
        guard let stream = streams[id], stream.isSendable != stream.isScheduled else { return }
        if stream.isSendable {
            schedule.append(id, stream.priority)
        } else {
            schedule.remove(id, stream.priority)
        }
        _ = streams.update(id) { $0.isScheduled = stream.isSendable }
    }
}
