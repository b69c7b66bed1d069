internal import CausewayTypes
package import CausewayWire

/// The server side of an HTTP/1.1 connection (RFC 9112). It decodes a request only after the response to the previous
/// request is complete. Pipelined requests remain in the input until then (RFC 9112 §9.3.2).
///
/// The caller passes in received bytes and responses, and takes events and bytes to send. Received bytes are decoded
/// only when the caller takes events. If it takes no events, ``inputRoom`` falls to 0. Malformed requests get an error
/// response without the caller's help. ``Event/ended(_:)`` or ``Event/upgraded`` is reported exactly once, as the final
/// event.
package struct HTTP1Server: Sendable {
    private enum Phase: Equatable {
        case head
        case body
        /// The request is complete, but the response is not.
        case waiting
        /// The response is complete, but the request is not.
        case draining
        case upgrading
        case closing(HTTP1Failure?)
        case upgraded
        case ended
    }

    /// The number of undecoded bytes at which ``inputRoom`` becomes 0.
    package static let inputLimit = 256 << 10

    private let configuration: Configuration
    private var phase = Phase.head
    /// The current request.
    private var exchange = HTTP1ServerExchange()
    private var reader: HTTP1MessageReader
    private var output = ByteChain()

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        reader = HTTP1MessageReader(.request, limits: configuration.headLimits)
    }

    /// Whether the connection waits for the first byte of a request.
    package var isIdle: Bool { phase == .head && !reader.headHasBegun && reader.awaitsInput }
    /// Whether the caller has taken the connection's last event.
    package var hasEnded: Bool { phase == .ended || phase == .upgraded }
    /// Whether the client waits for status 100 before it sends the body (RFC 9110 §10.1.1). Call ``inform(_:)`` with that status.
    package var awaitsContinue: Bool { exchange.awaitsContinue }
    /// Whether the connection may persist after the current response, as far as the messages so far permit it.
    package var persists: Bool { exchange.persists }
    /// How many bytes may be passed to ``received(_:)`` now.
    package var inputRoom: Int { hasEnded ? 0 : max(0, Self.inputLimit - reader.count) }
    /// Whether the connection waits for a request head or for the rest of one.
    package var awaitsHead: Bool { phase == .head }
    /// Whether the connection waits for request content. The value is `false` while the client waits for status 100
    /// before it sends the content.
    package var awaitsContent: Bool { phase == .draining || phase == .body && !exchange.awaitsContinue }
    /// Whether the client has ended the stream.
    package var inputHasEnded: Bool { reader.hasEnded }
    /// The number of bytes to send.
    package var outputCount: Int { output.count }

    /// Removes and returns the bytes to send.
    package mutating func takeOutput() -> ByteChain {
        defer { output = ByteChain() }
        return output
    }

    /// Closes the connection after the current response, or immediately if there is no request.
    package mutating func finish() {
        exchange.forbidPersistence()
        if phase == .head, !reader.headHasBegun, reader.isEmpty { close(nil) }
    }

    /// Ends the connection immediately. No more bytes are sent.
    package mutating func abort() {
        output = ByteChain()
        close(.aborted)
    }

    /// Ends the connection because the client does not send its request in time. Sends status 408 if a request has
    /// begun but its response has not (RFC 9110 §15.5.9). Has no effect if the request is complete.
    package mutating func timedOut() {
        let hasBegun: Bool
        switch phase {
        case .head: hasBegun = !isIdle
        case .body, .draining: hasBegun = exchange.awaitsResponse
        case .waiting, .upgrading, .closing, .upgraded, .ended: return
        }
        if hasBegun { appendRefusal("408 Request Timeout") }
        close(hasBegun ? .endedEarly(received: reader.received, expected: reader.expected) : nil)
    }

    /// Rejects a request and ends the connection. Sends an error response unless a response has already begun.
    private mutating func refuse(_ failure: HTTP1Failure) {
        let status = isTargetTooLong(failure) ? "414 URI Too Long" : failure.refusalStatus
        if !exchange.hasResponded, let status { appendRefusal(status) }
        close(failure)
    }

    /// Whether the request line alone exceeds the limit for the head (RFC 9112 §3).
    private func isTargetTooLong(_ failure: HTTP1Failure) -> Bool {
        guard case .syntax(.limitExceeded) = failure else { return false }
        return phase == .head && !reader.headHasStartLine
    }

    private mutating func appendRefusal(_ status: String) {
        output.append(Array("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
    }

    /// Enters the closing state. The event ``Event/ended(_:)`` then follows as the last event.
    ///
    /// The machine calls this method whenever the connection ends, except after an upgrade.
    private mutating func close(_ failure: HTTP1Failure?) {
        switch phase {
        case .closing, .ended, .upgraded: return
        case .head, .body, .waiting, .draining, .upgrading: break
        }
        phase = .closing(failure)
        _ = reader.removeInput()
    }
}

// MARK: - Receiving

extension HTTP1Server {
    /// Adds received bytes, which are stored without a copy until they are decoded. Call ``nextEvent(atMost:)``
    /// afterwards.
    package mutating func received(_ bytes: ArraySlice<UInt8>) {
        switch phase {
        case .closing, .ended: break
        // After an upgrade, the caller uses the stream directly. It can still take the bytes that are added here.
        case .head, .body, .waiting, .draining, .upgrading, .upgraded: reader.append(bytes)
        }
    }

    /// Records the end of the stream. Call ``nextEvent(atMost:)`` afterwards. Complete requests that arrived before the
    /// end are still served.
    package mutating func inputEnded() { reader.end(isClean: true) }

    /// Removes and returns the bytes that follow the request, after ``Event/upgraded``.
    package mutating func takeRemainingInput() -> ByteChain {
        phase == .upgraded ? reader.removeInput() : ByteChain()
    }

    /// Decodes input until an event occurs. Returns `nil` if more input is needed.
    ///
    /// - Parameter limit: The maximum number of content bytes in the event. If it is 0, the method returns only events without content.
    package mutating func nextEvent(atMost limit: Int = .max) -> Event? {
        if phase == .draining { drain() }
        switch phase {
        case .head:
            if let event = readHead() { return event }
        case .body:
            if let event = readBody(atMost: limit) { return event }
        case .upgrading:
            phase = .upgraded
            return .upgraded
        case .waiting, .draining, .closing, .upgraded, .ended: break
        }
        guard case .closing(let failure) = phase else { return nil }
        phase = .ended
        return .ended(failure)
    }

    private mutating func readHead() -> Event? {
        do throws(HTTPSyntaxError) {
            if let request = try reader.nextRequest() { return interpret(request) }
        } catch {
            refuse(.syntax(error))
            return nil
        }
        guard reader.hasEnded else { return nil }
        close(reader.headHasBegun ? .endedEarly(received: 0, expected: nil) : nil)
        return nil
    }

    private mutating func interpret(_ request: HTTPRequestHead) -> Event? {
        do throws(HTTP1Failure) {
            let length = try exchange.requested(request)
            reader.beginBody(length)
            phase = .body
            return .requested(request, length)
        } catch {
            refuse(error)
            return nil
        }
    }

    private mutating func readBody(atMost limit: Int) -> Event? {
        do throws(HTTP1Failure) {
            switch try reader.nextPart(atMost: limit) {
            case .content(let content):
                exchange.contentArrived()
                return .content(content)
            case .end(let trailers):
                phase = .waiting
                return .finished(trailers: trailers)
            case nil: return nil
            }
        } catch {
            refuse(error)
            return nil
        }
    }

    /// Reads and discards the rest of the request, because its response is complete. If the body is larger than
    /// ``Configuration/drainLimit``, closes the connection.
    private mutating func drain() {
        do throws(HTTP1Failure) {
            while true {
                guard reader.received <= configuration.drainLimit else { return close(nil) }
                switch try reader.nextPart(atMost: .max) {
                case .content: continue
                case .end: return beginNext()
                case nil: return
                }
            }
        } catch {
            close(error)
        }
    }

    /// Waits for the next request, or ends the connection.
    private mutating func beginNext() {
        guard exchange.persists else { return close(nil) }
        exchange = HTTP1ServerExchange()
        phase = .head
    }
}

// MARK: - Sending

extension HTTP1Server {
    /// Sends an interim response (RFC 9110 §15.2), such as status 100 or 103. Has no effect for HTTP/1.0 clients, which do not support
    /// interim responses.
    ///
    /// - Throws: ``HTTP1Failure/unwritable(_:)``, or ``HTTP1Failure/misuse(_:)`` if no request waits for a response.
    package mutating func inform(_ response: HTTPResponseHead) throws(HTTP1Failure) {
        guard response.isInformational, response.status != 101 else {
            throw .misuse("interim response with final status")
        }
        guard exchange.awaitsResponse, isServing else { throw .misuse("response without request") }
        try exchange.inform(response, to: &output)
    }

    /// Sends the response head. Send the body afterwards, unless `length` is ``HTTP1BodyLength/none``.
    ///
    /// This method adds `Content-Length` or `Transfer-Encoding`, and `Connection`. If the response has no body (RFC
    /// 9110 §6.4.1), the content is discarded, so a program can handle HEAD like GET. HTTP/1.0 clients do not support
    /// the chunked coding. For them, the end of the connection delimits the body instead.
    ///
    /// - Throws: ``HTTP1Failure/unwritable(_:)`` or ``HTTP1Failure/misuse(_:)``. The connection state is then
    ///   unchanged.
    package mutating func respond(
        _ response: HTTPResponseHead, body length: HTTP1BodyLength = .none
    ) throws(HTTP1Failure) {
        guard !response.isInformational || response.status == 101 else {
            throw .misuse("final response with interim status")
        }
        guard exchange.awaitsResponse, isServing else { throw .misuse("response without request") }
        if exchange.isUpgrade(response) {
            try exchange.upgrade(response, isComplete: phase == .waiting, to: &output)
            phase = .upgrading
            return
        }
        try exchange.respond(response, body: length, to: &output)
        if length == .none { finishResponse() }
    }

    /// Sends part of the body.
    ///
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body becomes longer than stated. The connection must then be ended.
    package mutating func sendContent(_ piece: ArraySlice<UInt8>) throws(HTTP1Failure) {
        guard exchange.hasResponded, isServing else { return }
        try exchange.append(piece, to: &output)
    }

    /// Sends the end of the body.
    ///
    /// - Parameter trailers: Trailer fields for a chunked body.
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body is shorter than stated, ``HTTP1Failure/unwritable(_:)`` for trailer fields that
    ///   cannot be written. The connection must then be ended.
    package mutating func sendEnd(trailers: FieldSection = FieldSection()) throws(HTTP1Failure) {
        guard exchange.hasResponded, isServing else { return }
        try exchange.end(trailers, to: &output)
        finishResponse()
    }

    /// Whether a request is waiting for a response.
    private var isServing: Bool { phase == .body || phase == .waiting }

    private mutating func finishResponse() {
        guard phase == .body else { return beginNext() }
        // Close the connection if the client still waits for status 100. Such a client may or may not send the body.
        // The server could not tell whether the next bytes are this body or a new request.
        guard exchange.persists, !exchange.awaitsContinue else { return close(nil) }
        phase = .draining
    }
}

extension HTTP1Server: StateMachine {
    package typealias Action = Event

    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
