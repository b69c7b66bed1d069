internal import CausewayWire

extension HTTP1Client {
    /// Adds received bytes. The machine keeps the slice until it is decoded. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func received(_ bytes: ArraySlice<UInt8>) {
        switch phase {
        case .closing, .ended: break
        // After an upgrade the owner uses the stream, but can still take input from the machine.
        case .idle, .head, .body, .upgraded: input.append(bytes)
        }
    }

    /// Decodes the response head directly from newly arrived bytes, without keeping them. Call ``nextEvent(atMost:)``
    /// afterwards.
    ///
    /// - Returns: The number of decoded bytes, and the event if the head is complete. The number is 0 if earlier bytes
    ///   are not decoded yet, or if no response is expected. Use ``bypass(_:)`` or ``received(_:)`` for the other
    ///   bytes.
    package mutating func receivedHead(_ bytes: borrowing Span<UInt8>) -> (count: Int, event: Event?) {
        guard phase == .head, input.isEmpty, !input.hasEnded else { return (0, nil) }
        let isWhole = !head.hasBegun
        if isWhole, let (response, count) = lastHeads.response(startOf: bytes) { return (count, interpret(response)) }
        do throws(HTTPSyntaxError) {
            let count = try head.take(bytes)
            guard head.isComplete, let response = head.finishResponse() else { return (count, nil) }
            if isWhole { lastHeads.note(response, count) }
            return (count, interpret(response))
        } catch {
            close(.syntax(error))
            return (0, nil)
        }
    }

    /// Counts content that the owner delivers itself, which saves copies. Call ``nextEvent(atMost:)`` afterwards.
    ///
    /// - Parameter count: The number of newly arrived bytes.
    /// - Returns: How many of these bytes are content; 0 if the body is chunked, or if earlier bytes are not decoded
    ///   yet. Pass the other bytes to ``received(_:)``.
    package mutating func bypass(_ count: Int) -> Int {
        guard phase == .body, input.isEmpty, !input.hasEnded else { return 0 }
        return body.bypass(count)
    }

    /// Records the end of the stream. Call ``nextEvent(atMost:)`` afterwards.
    ///
    /// - Parameter isClean: Whether the server ended the stream properly. `false` after a reset, or over TLS without a
    ///   closure alert. A body delimited by the end of the connection is then incomplete (RFC 9112 §9.8).
    package mutating func inputEnded(isClean: Bool = true) { input.end(isClean: isClean) }

    /// Ends the machine during a response body that is delimited by the end of the connection, so that the owner can
    /// use the stream. No event follows; ``takeRemainingInput()`` has the undelivered bytes. Returns `false` if the
    /// body is delimited in another way, or if the request is not complete.
    package mutating func handOver() -> Bool {
        guard phase == .body, body.endsWithConnection, hasSentRequest else { return false }
        phase = .upgraded
        return true
    }

    /// How the server ended the stream: `true` for a proper end, `false` for a reset or, over TLS, a missing closure
    /// alert; `nil` if the stream has not ended.
    package var inputEnd: Bool? { input.hasEnded ? input.endIsClean : nil }

    /// Removes and returns the bytes that follow the response, after ``Event/upgraded(_:)`` or ``handOver()``.
    package mutating func takeRemainingInput() -> ByteChain {
        phase == .upgraded ? input.removeAll() : ByteChain()
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

    /// Ends an idle connection if the server closed it or sent unexpected bytes (RFC 9112 §9.2, §9.5).
    private mutating func watchIdle() {
        if !input.isEmpty {
            close(.unexpectedBytes)
        } else if input.hasEnded {
            close(nil)
        }
    }

    private mutating func readHead() -> Event? {
        do throws(HTTPSyntaxError) {
            if try input.read(&head), let response = head.finishResponse() { return interpret(response) }
        } catch {
            close(.syntax(error))
            return nil
        }
        guard input.hasEnded else { return nil }
        let isUntouched = !head.hasBegun && exchange.informationalCount == 0
        close(isUntouched ? .endedWithoutResponse : .endedEarly(received: 0, expected: nil))
        return nil
    }

    private mutating func interpret(_ response: HTTPResponseHead) -> Event? {
        if response.isInformational { return interpretInformational(response) }
        dropHeldBody()
        // A response to CONNECT with status 2xx has no body: its fields are ignored (RFC 9110 §9.3.6).
        if exchange.method == .connect, response.status < 300 {
            phase = .upgraded
            return .upgraded(response)
        }
        do throws(HTTP1Failure) {
            let length = try length(of: response)
            body = HTTP1BodyReader(length, limits: configuration.headLimits)
            let persists = HTTP1Persistence.isPermitted(version: response.version, fields: response.fields)
            exchange.persists = exchange.persists && persists && length != .untilEnd
            exchange.keepAlive = KeepAlive(response.fields)
            phase = .body
            return .responded(response, length)
        } catch {
            close(error)
            return nil
        }
    }

    private mutating func length(of response: HTTPResponseHead) throws(HTTP1Failure) -> HTTP1BodyLength {
        guard HTTP1BodyLength.hasBody(status: response.status, toHead: exchange.method == .head) else {
            // If the fields are contradictory or state a body for status 204, the server might send a body nevertheless.
            let stated = try? HTTP1BodyLength.ofResponse(response)
            if stated == nil || response.status == 204 && stated != .untilEnd { exchange.persists = false }
            return .none
        }
        let length = try HTTP1BodyLength.ofResponse(response)
        // HTTP/1.0 has no transfer codings. An intermediary that ignored the coding may have forwarded the message, so
        // the framing is uncertain (RFC 9112 §6.1).
        if length == .chunked, response.version < .http11 { exchange.persists = false }
        return length
    }

    private mutating func interpretInformational(_ response: HTTPResponseHead) -> Event? {
        if response.status == 101 {
            guard exchange.upgrades else {
                close(.unexpectedUpgrade)
                return nil
            }
            dropHeldBody()
            phase = .upgraded
            return .upgraded(response)
        }
        exchange.informationalCount += 1
        guard exchange.informationalCount <= configuration.maximumInformationalCount else {
            close(.tooManyInformationalResponses(limit: configuration.maximumInformationalCount))
            return nil
        }
        if response.status == 100 { releaseBody() }
        return .informational(response)
    }

    private mutating func readBody(atMost limit: Int) -> Event? {
        do throws(HTTP1Failure) {
            switch try body.next(&input, atMost: limit) {
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
        let persists = exchange.persists && hasSentRequest && input.isEmpty && !input.hasEnded
        guard persists else {
            close(nil)
            return .finished(trailers: trailers, .refused)
        }
        phase = .idle
        return .finished(trailers: trailers, .permitted(exchange.keepAlive))
    }
}
