internal import CausewayWire

extension HTTP1Server {
    /// Adds received bytes. The machine keeps the slice until it is decoded. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func received(_ bytes: ArraySlice<UInt8>) {
        switch phase {
        case .closing, .ended: break
        // After an upgrade the owner uses the stream, but can still take input from the machine.
        case .head, .body, .waiting, .draining, .upgrading, .upgraded: input.append(bytes)
        }
    }

    /// Records the end of the stream. Call ``nextEvent(atMost:)`` afterwards. Complete requests that arrived before the
    /// end are still served.
    package mutating func inputEnded() { input.end(isClean: true) }

    /// Removes and returns the bytes that follow the request, after ``Event/upgraded``.
    package mutating func takeRemainingInput() -> ByteChain {
        phase == .upgraded ? input.removeAll() : ByteChain()
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
            if try input.read(&head), let request = head.finishRequest() { return interpret(request) }
        } catch {
            refuse(.syntax(error))
            return nil
        }
        guard input.hasEnded else { return nil }
        close(head.hasBegun ? .endedEarly(received: 0, expected: nil) : nil)
        return nil
    }

    private mutating func interpret(_ request: HTTPRequestHead) -> Event? {
        do throws(HTTP1Failure) {
            try HTTP1RequestRules.check(request)
            let length = try HTTP1BodyLength.ofRequest(request)
            let method = HTTP1Method(request.method)
            // Bytes after the CONNECT head belong to the tunnel (RFC 9110 §9.3.6).
            guard method != .connect || length == .none else { throw .framing("body of CONNECT") }
            let persists = exchange.persists
            exchange = Exchange()
            exchange.method = method
            exchange.version = request.version
            exchange.answer = .awaited
            exchange.upgrades = request.fields.contains("Upgrade")
            exchange.awaitsContinue =
                length != .none && request.version >= .http11
                && request.fields.hasElement("100-continue", in: "Expect")
            exchange.persists =
                persists && HTTP1Persistence.isPermitted(version: request.version, fields: request.fields)
            body = HTTP1BodyReader(length, limits: configuration.headLimits)
            phase = .body
            return .requested(request, length)
        } catch {
            refuse(error)
            return nil
        }
    }

    private mutating func readBody(atMost limit: Int) -> Event? {
        do throws(HTTP1Failure) {
            switch try body.next(&input, atMost: limit) {
            case .content(let content):
                exchange.awaitsContinue = false
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

    /// Reads and discards the rest of the request, because its response is complete. If the body exceeds the drain
    /// limit, closes the connection.
    private mutating func drain() {
        do throws(HTTP1Failure) {
            while true {
                guard body.received <= configuration.drainLimit else { return close(nil) }
                switch try body.next(&input, atMost: .max) {
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
    mutating func beginNext() {
        guard exchange.persists else { return close(nil) }
        exchange = Exchange()
        phase = .head
    }

    /// Rejects a request and ends the connection. Sends an error response unless a response has already begun.
    private mutating func refuse(_ failure: HTTP1Failure) {
        let canRespond = exchange.answer != .sending
        if canRespond, let status = isTargetTooLong(failure) ? "414 URI Too Long" : Self.status(for: failure) {
            output.append(
                Array("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        close(failure)
    }

    /// Whether the request line alone exceeds the limit for the head (RFC 9112 §3).
    private func isTargetTooLong(_ failure: HTTP1Failure) -> Bool {
        guard case .syntax(.limitExceeded) = failure else { return false }
        return phase == .head && !head.hasStartLine
    }

    /// Returns the status code and reason phrase for a malformed request; `nil` if no response is sent (RFC 9110 §15.5.1, §15.6.2,
    /// §15.6.6).
    private static func status(for failure: HTTP1Failure) -> String? {
        switch failure {
        case .syntax(.limitExceeded): "431 Request Header Fields Too Large"
        case .syntax(.invalid("HTTP version", _)): "505 HTTP Version Not Supported"
        case .unsupportedCoding: "501 Not Implemented"
        case .syntax, .framing, .invalidRequest: "400 Bad Request"
        case .endedEarly, .endedWithoutResponse, .tooManyInformationalResponses, .unexpectedBytes, .unexpectedUpgrade,
            .unwritable, .misuse, .aborted:
            nil
        }
    }
}
