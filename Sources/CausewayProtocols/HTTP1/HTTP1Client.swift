internal import CausewayTypes
package import CausewayWire

/// The client side of an HTTP/1.1 connection (RFC 9112): one request at a time.
///
/// The caller passes in requests and received bytes, and takes events and bytes to send. Received bytes are decoded
/// only when the caller takes events. If it takes no events, ``inputRoom`` falls to 0. ``Event/ended(_:)`` or
/// ``Event/upgraded(_:)`` is reported exactly once, as the final event. After ``handOver()`` there is no final event.
package struct HTTP1Client: Sendable {
    private enum Phase: Equatable {
        case idle
        case head
        case body
        case closing(HTTP1Failure?)
        case upgraded
        case ended
    }

    /// The limit for undecoded bytes. At this limit, ``inputRoom`` becomes 0.
    package static let inputLimit = 256 << 10

    private let configuration: Configuration
    private var phase = Phase.idle
    /// The current exchange: a request and its responses.
    private var exchange = HTTP1ClientExchange()
    private var reader: HTTP1MessageReader
    private var sender = HTTP1RequestSender()
    /// A cache for the latest heads, because the heads of the next messages are often equal.
    private var lastHeads = HTTP1LastHeads()

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        reader = HTTP1MessageReader(.response, limits: configuration.headLimits)
    }

    /// Whether the connection is idle and can take a request.
    package var isIdle: Bool { phase == .idle && reader.awaitsInput }
    /// Whether the caller has taken the final event, or ``handOver()`` has returned `true`.
    package var hasEnded: Bool { phase == .ended || phase == .upgraded }
    /// Whether the whole request body has been added to the output.
    package var hasSentRequest: Bool { sender.hasSentRequest }
    /// Whether the body waits for status 100. New content is accepted, but is not yet added to the output.
    package var isBodyHeld: Bool { sender.isBodyHeld }
    /// Whether the body was not sent, because the server responded without waiting for it.
    package var dropsBody: Bool { sender.dropsBody }
    /// The time at which to call ``advance(to:)``; `nil` if no call is needed.
    package var deadline: Duration? { sender.holdDeadline }
    /// The number of bytes that may be passed to ``received(_:)`` now.
    package var inputRoom: Int { hasEnded ? 0 : max(0, Self.inputLimit - reader.count) }
    /// Whether ``takeOutput()`` returns bytes.
    package var hasOutput: Bool { sender.hasOutput }
    /// The number of bytes to send, including body bytes that wait for status 100.
    package var outputCount: Int { sender.outputCount }
    /// The number of response content bytes delivered so far.
    package var receivedCount: Int { reader.received }

    /// Ends the connection immediately. No more bytes are sent.
    package mutating func abort() {
        sender.removeOutput()
        close(.aborted)
    }

    /// Enters the closing state. The last event is then ``Event/ended(_:)``. Every end of the connection uses this
    /// method, except an upgrade and ``handOver()``.
    private mutating func close(_ failure: HTTP1Failure?) {
        switch phase {
        case .closing, .ended, .upgraded: return
        case .idle, .head, .body: break
        }
        phase = .closing(failure)
        sender.dropHeldBody()
        _ = reader.removeInput()
    }
}

// MARK: - Sending

extension HTTP1Client {
    /// Sends a request head. Send the body afterwards, unless `length` is ``HTTP1BodyLength/none``.
    ///
    /// This method adds `Content-Length` or `Transfer-Encoding`. If the head has `Expect: 100-continue`, the body is
    /// held back until the server responds with status 100, for at most ``Configuration/continueTimeout`` (RFC 9110
    /// §10.1.1, §15.2.1).
    ///
    /// - Parameters:
    ///   - length: The body length.
    ///   - now: The current time.
    /// - Throws: ``HTTP1Failure/unwritable(_:)`` or ``HTTP1Failure/misuse(_:)``. The connection state is then
    ///   unchanged.
    package mutating func send(
        _ request: HTTPRequestHead, body length: HTTP1BodyLength = .none, at now: Duration
    ) throws(HTTP1Failure) {
        guard isIdle else { throw .misuse("request on a connection that is not idle") }
        guard length != .untilEnd else { throw .misuse("request whose body ends with the connection") }
        if length == .none, let (bytes, facts) = lastHeads.encoded(request) {
            sender.begin(bytes, body: .none, holdUntil: nil)
            exchange = facts
            phase = .head
            return
        }
        let bytes = try Self.encode(request, length)
        var holdDeadline: Duration?
        if length != .none, length != .length(0), request.fields.hasElement("100-continue", in: "Expect") {
            holdDeadline = now + configuration.continueTimeout
        }
        sender.begin(bytes, body: length, holdUntil: holdDeadline)
        exchange = HTTP1ClientExchange(request)
        if length == .none { lastHeads.note(request, bytes, exchange) }
        phase = .head
    }

    private static func encode(
        _ request: HTTPRequestHead, _ length: HTTP1BodyLength
    ) throws(HTTP1Failure) -> [UInt8] {
        let fields = request.fields
        guard request.version < .http11 || fields.onlyValue(of: "Host") != nil else {
            throw .unwritable(.unwritable("field Host"))
        }
        guard request.version >= .http11 || length != .chunked else {
            throw .misuse("chunked body of an HTTP/1.0 request")
        }
        try HTTP1FramingFields.check(fields, length)
        var bytes: [UInt8] = []
        do {
            try request.encode(into: &bytes)
        } catch {
            throw .unwritable(error)
        }
        HTTP1FramingFields.append(length, fields, toHead: &bytes)
        return bytes
    }

    /// Sends part of the body. If the server has responded without waiting for the body, the part is discarded.
    ///
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body becomes longer than stated. The connection must then be ended.
    package mutating func sendContent(_ piece: ArraySlice<UInt8>) throws(HTTP1Failure) {
        guard phase == .head || phase == .body else { return }
        try sender.append(piece)
    }

    /// Sends the end of the body.
    ///
    /// - Parameter trailers: Trailer fields for a chunked body.
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body is shorter than stated, ``HTTP1Failure/unwritable(_:)`` for trailer fields that
    ///   cannot be written. The connection must then be ended.
    package mutating func sendEnd(trailers: FieldSection = FieldSection()) throws(HTTP1Failure) {
        guard phase == .head || phase == .body else { return }
        try sender.end(trailers)
    }

    /// Removes and returns the bytes to send.
    package mutating func takeOutput() -> ByteChain { sender.takeOutput() }

    /// Sends a request body that waits for status 100, if its deadline has passed. An early, late or repeated call is
    /// harmless.
    package mutating func advance(to now: Duration) { sender.releaseBody(ifDueAt: now) }
}

// MARK: - Receiving

extension HTTP1Client {
    /// Adds received bytes, which are stored without a copy until they are decoded. Call ``nextEvent(atMost:)``
    /// afterwards.
    package mutating func received(_ bytes: ArraySlice<UInt8>) {
        switch phase {
        case .closing, .ended: break
        // After an upgrade, the caller reads the stream itself. The reader still stores these bytes, so that the caller
        // can take them later.
        case .idle, .head, .body, .upgraded: reader.append(bytes)
        }
    }

    /// Decodes the response head directly from newly arrived bytes, instead of storing the bytes first. Call
    /// ``nextEvent(atMost:)`` afterwards.
    ///
    /// - Returns: The number of decoded bytes, and the event if the head is complete. The number is 0 if earlier bytes
    ///   are not decoded yet, or if no response is expected. Pass the bytes that were not decoded to ``received(_:)``,
    ///   or count content among them with ``bypass(_:)``.
    package mutating func receivedHead(_ bytes: borrowing Span<UInt8>) -> (count: Int, event: Event?) {
        guard phase == .head, reader.awaitsInput else { return (0, nil) }
        let isWhole = !reader.headHasBegun
        if isWhole, let (response, count) = lastHeads.response(startOf: bytes) { return (count, interpret(response)) }
        do throws(HTTPSyntaxError) {
            let (count, found) = try reader.nextResponse(from: bytes)
            guard let response = found else { return (count, nil) }
            if isWhole { lastHeads.note(response, count) }
            return (count, interpret(response))
        } catch {
            close(.syntax(error))
            return (0, nil)
        }
    }

    /// Counts content that the caller delivers directly, without passing it to ``received(_:)``. Direct delivery saves
    /// copies. Call ``nextEvent(atMost:)`` afterwards.
    ///
    /// - Parameter count: The number of newly arrived bytes.
    /// - Returns: How many of these bytes are content; 0 if the body is chunked, or if earlier bytes are not decoded
    ///   yet. Pass the other bytes to ``received(_:)``.
    package mutating func bypass(_ count: Int) -> Int { phase == .body ? reader.bypass(count) : 0 }

    /// Records the end of the stream. Call ``nextEvent(atMost:)`` afterwards.
    ///
    /// - Parameter isClean: Whether the server ended the stream properly. `false` after a reset, or over TLS without a
    ///   closure alert. A body delimited by the end of the connection is then incomplete (RFC 9112 §9.8).
    package mutating func inputEnded(isClean: Bool = true) { reader.end(isClean: isClean) }

    /// Ends the use of HTTP and leaves the stream to the caller. This is possible only while the response body lasts
    /// until the connection ends.
    ///
    /// No event follows. The method ``takeRemainingInput()`` returns the bytes that were not delivered.
    ///
    /// Returns `false` and changes nothing if the body is delimited in another way, or if the request is not complete.
    package mutating func handOver() -> Bool {
        guard phase == .body, reader.bodyEndsWithConnection, hasSentRequest else { return false }
        phase = .upgraded
        return true
    }

    /// How the server ended the stream: `true` for a proper end, `false` for an improper end, `nil` if the stream has
    /// not ended. A reset is improper. Over TLS, a missing closure alert is improper too.
    package var inputEnd: Bool? { reader.inputEnd }

    /// Removes and returns the bytes that follow the response, after ``Event/upgraded(_:)`` or ``handOver()``.
    package mutating func takeRemainingInput() -> ByteChain {
        phase == .upgraded ? reader.removeInput() : ByteChain()
    }

    /// Decodes input until an event occurs. Returns `nil` if more input is needed.
    ///
    /// - Parameter limit: The maximum number of content bytes in the event. If it is 0, the method returns only events without content.
    package mutating func nextEvent(atMost limit: Int = .max) -> Event? {
        switch phase {
        case .idle: watchIdle()
        case .head:
            if let event = readHead() { return event }
        case .body:
            if let event = readBody(atMost: limit) { return event }
        case .closing, .upgraded, .ended: break
        }
        guard case .closing(let failure) = phase else { return nil }
        phase = .ended
        return .ended(failure)
    }

    /// Ends an idle connection if the server has closed it, or has sent bytes without a request (RFC 9112 §9.2, §9.5).
    private mutating func watchIdle() {
        if !reader.isEmpty {
            close(.unexpectedBytes)
        } else if reader.hasEnded {
            close(nil)
        }
    }

    private mutating func readHead() -> Event? {
        do throws(HTTPSyntaxError) {
            if let response = try reader.nextResponse() { return interpret(response) }
        } catch {
            close(.syntax(error))
            return nil
        }
        guard reader.hasEnded else { return nil }
        let isUntouched = !reader.headHasBegun && exchange.isUnanswered
        close(isUntouched ? .endedWithoutResponse : .endedEarly(received: 0, expected: nil))
        return nil
    }

    private mutating func interpret(_ response: HTTPResponseHead) -> Event? {
        do throws(HTTP1Failure) {
            let limit = configuration.maximumInformationalCount
            switch try exchange.received(response, informationalLimit: limit) {
            case .interim:
                if response.status == 100 { sender.releaseBody() }
                return .informational(response)
            case .upgraded:
                sender.dropHeldBody()
                phase = .upgraded
                return .upgraded(response)
            case .responded(let length):
                sender.dropHeldBody()
                reader.beginBody(length)
                phase = .body
                return .responded(response, length)
            }
        } catch {
            close(error)
            return nil
        }
    }

    private mutating func readBody(atMost limit: Int) -> Event? {
        do throws(HTTP1Failure) {
            switch try reader.nextPart(atMost: limit) {
            case .content(let content): return .content(content)
            case .end(let trailers): return finish(trailers)
            case nil: return nil
            }
        } catch {
            close(error)
            return nil
        }
    }

    /// Ends the exchange. The connection persists only if both messages permit it, the request is complete, and no bytes follow the
    /// response (RFC 9112 §9.3).
    private mutating func finish(_ trailers: FieldSection) -> Event {
        let persists = exchange.persists && hasSentRequest && reader.awaitsInput
        guard persists else {
            close(nil)
            return .finished(trailers: trailers, .refused)
        }
        phase = .idle
        return .finished(trailers: trailers, .permitted(exchange.keepAlive))
    }
}

extension HTTP1Client: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
