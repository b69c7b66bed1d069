import CausewayProtocols

internal import CausewayWire

extension HTTP2Connection {
    mutating func receivedHeaders(
        _ header: HTTP2FrameHeader, _ frame: HTTP2HeadersFrame, at now: Duration
    ) throws(HTTP2Violation) {
        try checkOrder(header.streamID)
        guard frame.endsHeaders else {
            input.beginBlock(header, frame)
            return
        }
        try receivedBlock(frame.fragment.span, header.streamID, endsStream: frame.endsStream, at: now)
    }

    mutating func receivedContinuation(
        _ header: HTTP2FrameHeader, _ fragment: ArraySlice<UInt8>, endsHeaders: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        guard let whole = try input.continueBlock(header.streamID, fragment, endsHeaders: endsHeaders) else { return }
        try receivedBlock(whole.block.span, whole.streamID, endsStream: whole.endsStream, at: now)
    }

    /// Checks that a HEADERS frame may occur on a stream at all (RFC 9113 §5.1, §5.1.1).
    private func checkOrder(_ id: HTTP2StreamID) throws(HTTP2Violation) {
        guard !streams.contains(id) && !streams.draining.contains(id) || isIdle(id) else { return }
        guard isIdle(id) else {
            switch streams.closing(of: id) {
            case .byReset: return
            case .byPeer: throw HTTP2Violation(.streamClosed, "HEADERS frame on closed stream \(id)")
            case nil: throw HTTP2Violation(.protocolError, "HEADERS frame on old stream \(id)")
            }
        }
        guard role == .server, id % 2 == 1 else {
            throw HTTP2Violation(.protocolError, "HEADERS frame on idle stream \(id)")
        }
    }

    /// Decodes a complete field block and passes it to its stream.
    private mutating func receivedBlock(
        _ bytes: Span<UInt8>, _ id: HTTP2StreamID, endsStream: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        let block = try input.decode(bytes)
        if let stream = streams[id] {
            return try receivedBlock(block, on: stream, endsStream: endsStream, at: now)
        }
        guard role == .server, id > peer.lastStreamID else {
            if endsStream { completeDraining(id) }
            return
        }
        try openStream(id, block, endsStream: endsStream, at: now)
    }

    private mutating func receivedBlock(
        _ block: HPACKFieldBlock, on stream: HTTP2Stream, endsStream: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        let id = stream.id
        guard stream.receiving != .ended else {
            return try failStream(HTTP2Violation(.streamClosed, stream: id, "HEADERS frame after the end"), at: now)
        }
        guard !block.exceedsLimit else { return refuseFields(id) }
        var isInformational = false
        do throws(HTTP2MalformedMessage) {
            switch stream.receiving {
            case .head:
                let head = try HTTP2ResponseHead(block)
                isInformational = head.isInformational
                try receivedResponse(head, on: stream, endsStream: endsStream)
            case .content, .ended:
                guard stream.method != .tunnel else { throw HTTP2MalformedMessage("HEADERS frame in a tunnel") }
                guard endsStream else { throw HTTP2MalformedMessage("HEADERS frame without END_STREAM") }
                let trailers = try block.trailers()
                guard stream.length.permitsEnd else { throw HTTP2MalformedMessage("content shorter than announced") }
                events.append(.trailers(id, trailers))
                endReceiving(id)
            }
        } catch {
            try failStream(HTTP2Violation(.protocolError, stream: id, error.reason), at: now)
        }
        if isInformational { try chargeChore("interim responses", at: now) }
    }

    private mutating func receivedResponse(
        _ head: HTTP2ResponseHead, on stream: HTTP2Stream, endsStream: Bool
    ) throws(HTTP2MalformedMessage) {
        guard !head.isInformational else {
            guard !endsStream else { throw HTTP2MalformedMessage("interim response with END_STREAM") }
            events.append(.informational(stream.id, head))
            return
        }
        let isTunnel = stream.method == .connect && (200...299).contains(head.status)
        var length = HTTP2ContentLength()
        length.isEmptyByDefinition = stream.method == .head || head.status == 204 || head.status == 304
        if !isTunnel { length.expected = try announcedLength(head.fields) }
        guard !endsStream || length.permitsEnd else { throw HTTP2MalformedMessage("content shorter than announced") }
        _ = streams.update(stream.id) { stream in
            stream.receiving = .content
            stream.length = length
            if isTunnel { stream.method = .tunnel }
        }
        events.append(.response(stream.id, head, endsStream: endsStream))
        if endsStream { endReceiving(stream.id) }
    }

    private func announcedLength(_ fields: FieldSection) throws(HTTP2MalformedMessage) -> Int? {
        switch fields.contentLength {
        case .success(let length): length
        case .failure: throw HTTP2MalformedMessage("field content-length")
        case nil: nil
        }
    }

    /// Opens a stream for a request (RFC 9113 §5.1.2, §8.1).
    private mutating func openStream(
        _ id: HTTP2StreamID, _ block: HPACKFieldBlock, endsStream: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        peer.lastStreamID = id
        let early = peer.takeEarlyPriority(of: id)
        // Requests above the last stream identifier in GOAWAY are ignored. The client can retry them on another
        // connection (RFC 9113 §6.8).
        if let last = own.goAway, id > last { return streams.remember(id, .byReset) }
        guard streams.count + streams.draining.count < configuration.settings.maxConcurrentStreams ?? .max else {
            return try refuse(id, .refusedStream, at: now)
        }
        guard !block.exceedsLimit else { return try answerTooLarge(id, endsStream: endsStream, at: now) }
        let window = HTTP2ReceiveWindow(size: own.initialWindowSize)
        var stream = HTTP2Stream(
            id: id, sending: .head, receiving: .content, receiveWindow: window,
            sendWindow: peer.settings.initialWindowSize)
        do throws(HTTP2MalformedMessage) {
            let head = try HTTP2RequestHead(
                block, allowsProtocol: configuration.settings.enablesConnectProtocol)
            stream.method = HTTP2MethodKind(head)
            if stream.method != .connect { stream.length.expected = try announcedLength(head.fields) }
            guard !endsStream || stream.length.permitsEnd else {
                throw HTTP2MalformedMessage("content shorter than announced")
            }
            stream.priority = early ?? Self.priority(head.fields)
            streams.insert(stream)
            events.append(.request(id, head, endsStream: endsStream))
            if endsStream { endReceiving(id) }
        } catch {
            try refuse(id, .protocolError, at: now)
        }
    }

    /// Resets a stream that was not reported to the program. It must never be in the table: at the end of the
    /// connection, every stream in the table is reported as closed.
    private mutating func refuse(
        _ id: HTTP2StreamID, _ code: HTTP2ErrorCode, at now: Duration
    ) throws(HTTP2Violation) {
        try chargeReset(at: now)
        output.append(.resetStream(code), on: id)
        streams.remember(id, .byReset)
    }

    static func priority(_ fields: FieldSection) -> HTTPPriority {
        guard let place = fields.index(of: "priority") else { return HTTPPriority() }
        return HTTPPriority(parsing: fields[place].value)
    }

    /// Responds with status 431 to a request whose fields exceed the limits (RFC 9113 §10.5.1). The program never sees
    /// such requests, so only the flood guard limits their number.
    private mutating func answerTooLarge(
        _ id: HTTP2StreamID, endsStream: Bool, at now: Duration
    ) throws(HTTP2Violation) {
        try chargeReset(at: now)
        output.appendBlock(on: id, endsStream: true) { encoder, bytes in
            HTTP2ResponseHead(status: 431).encode(with: &encoder, to: &bytes)
        }
        if !endsStream { streams.draining.append(id) }
        streams.remember(id, endsStream ? .byPeer : .byReset)
    }

    /// Resets a stream whose response head or trailers exceed the limits.
    private mutating func refuseFields(_ id: HTTP2StreamID) {
        output.append(.resetStream(.enhanceYourCalm), on: id)
        close(id, .byReset, .fieldsTooLarge)
    }
}
