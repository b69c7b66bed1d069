internal import CausewayWire

extension WebSocketMachine {
    /// Decodes input until there is an event, and returns the event (RFC 6455 §6.2).
    ///
    /// - Parameter limit: The maximum number of content bytes in the event. If the limit is 0, the method returns only events without
    ///   content.
    package mutating func nextEvent(atMost limit: Int = .max) -> Event? {
        while true {
            // A lost ping does not wait for the program to read the content before it.
            if let token = nextLostPing() { return .pingLost(token) }
            if let event = events.popFirst() { return event }
            guard makesProgress(atMost: limit) else { return nil }
        }
    }

    /// Removes and returns the token of a lost ping. The machine then reports no ``Event/pingLost(_:)`` for this ping.
    package mutating func nextLostPing() -> UInt64? { pings.nextLost() }

    /// Decodes input or ends the connection, which may add an event. Returns `false` if neither is possible now.
    private mutating func makesProgress(atMost limit: Int) -> Bool {
        switch phase {
        case .opening(var opening): return readHead(&opening)
        case .open where !receivedClose: return decode(atMost: limit)
        case .open: return finishClosing()
        case .idle, .deciding, .ended: return false
        }
    }

    private mutating func decode(atMost limit: Int) -> Bool {
        do {
            switch try decoder.next(from: &input.bytes, atMost: limit) {
            case .content(let opcode, let bytes, let endsMessage):
                events.append(.content(opcode, bytes, endsMessage: endsMessage))
            case .control(.ping, let payload): receivedPing(payload)
            case .control(.pong, let payload): receivedPong(payload)
            case .control(_, let payload): try receivedClose(payload)
            case nil: return endIfCutOff(atMost: limit)
            }
        } catch {
            fail(error)
        }
        return true
    }

    /// Handles the end of the stream, when no more input can be decoded.
    private mutating func endIfCutOff(atMost limit: Int) -> Bool {
        guard input.hasEnded, limit > 0 else { return false }
        let isBetweenMessages = input.bytes.isEmpty && decoder.isBetweenMessages
        end(sentClose ? nil : isBetweenMessages ? .endedUnclosed : .endedEarly)
        return true
    }

    private mutating func receivedPing(_ payload: [UInt8]) {
        guard configuration.repliesToPings else { return events.append(.ping(payload)) }
        if !sentClose { output.reply(toPing: payload) }
    }

    private mutating func receivedPong(_ payload: [UInt8]) {
        let answered = pings.answered(payload)
        for token in answered { events.append(.pingAnswered(token)) }
        if answered.isEmpty { events.append(.pong(payload)) }
    }

    /// Answers a close frame with the same code, and discards pending output, because the peer no longer reads it (RFC 6455 §5.5.1).
    private mutating func receivedClose(_ payload: [UInt8]) throws(Failure) {
        let closing: WebSocketClosing
        do {
            closing = try WebSocketClosing(parsing: payload)
        } catch {
            throw error == .text ? .invalidText : .protocolError("close code")
        }
        receivedClose = true
        input.removeAll()
        events.append(.closed(closing))
        guard !sentClose else { return }
        output.removeWaiting()
        appendClose(WebSocketClosing(code: closing.code))
    }

    /// Ends the connection after both peers have sent a close frame. The server ends the stream first
    /// (RFC 6455 §7.1.1); a client waits for that.
    private mutating func finishClosing() -> Bool {
        if case .client = role, !input.hasEnded { return false }
        end(nil)
        return true
    }

    /// Ends the connection after a failure. Sends a close frame if none was sent before (RFC 6455 §7.1.7).
    private mutating func fail(_ failure: Failure) {
        output.removeWaiting()
        if !sentClose {
            let code: WebSocketCloseCode =
                switch failure {
                case .invalidText: .invalidFramePayloadData
                case .messageTooBig: .messageTooBig
                case .handshake(.missingExtension): .mandatoryExtension
                case .protocolError, .handshake, .endedEarly, .endedUnclosed, .aborted: .protocolError
                }
            appendClose(WebSocketClosing(code: code))
        }
        end(failure)
    }

    private mutating func readHead(_ opening: inout Opening) -> Bool {
        // Move the reader out of the phase, so that its buffer is not copied for every piece of input.
        phase = .idle
        do {
            while !opening.head.isComplete, let piece = input.bytes.popPiece() {
                let taken = try take(piece, &opening.head)
                if taken < piece.count { input.putBack(piece.dropFirst(taken)) }
            }
            guard opening.head.isComplete else {
                phase = .opening(opening)
                guard input.hasEnded else { return false }
                end(.endedEarly)
                return true
            }
            try understand(&opening)
        } catch {
            if case .server = role { output.append(raw: refusal(error)) }
            end(.handshake(error))
        }
        return true
    }

    private func take(_ piece: ArraySlice<UInt8>, _ head: inout HeadReader) throws(UpgradeError) -> Int {
        do {
            return try head.take(piece)
        } catch {
            throw UpgradeError(error)
        }
    }

    private mutating func understand(_ opening: inout Opening) throws(UpgradeError) {
        guard let request = opening.request else {
            guard let found = opening.head.finishRequest() else { return }
            let request = try UpgradeRequest(found)
            phase = .deciding(request)
            events.append(.requested(request))
            return
        }
        guard let found = opening.head.finishResponse() else { return }
        let response = try UpgradeResponse(found, for: request)
        phase = .open
        output.isHeld = false
        if let agreed = response.deflate {
            startCompression(agreed)
        } else if configuration.compression?.isRequired == true {
            return fail(.handshake(.missingExtension))
        }
        events.append(.opened(response))
    }
}
