internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

extension HTTP2ConnectionDriver.State {
    // MARK: Transport

    /// Handles a failure of the transport. If a receive call is pending, only stores the failure. The input then ends
    /// with the result of that call. So content that arrived before the failure is still delivered.
    mutating func lost(_ failure: NWError, at now: Duration) {
        link.error = link.error ?? failure
        guard isOpen, !link.isReceiving else { return }
        machine.inputEnded()
        pump(at: now)
    }

    mutating func arrived(_ arrival: HTTPArrival, at now: Duration) {
        link.isReceiving = false
        guard isOpen else { return }
        if let content = arrival.content, !content.isEmpty {
            link.lastArrival = now
            link.pingDeadline = nil
            machine.received(Array(content)[...], at: now)
        }
        if let failure = arrival.error { link.error = link.error ?? failure }
        if arrival.isEnd || arrival.error != nil { machine.inputEnded() }
        pump(at: now)
    }

    mutating func sent(_ count: Int, _ failure: NWError?, at now: Duration) {
        link.pendingCount -= count
        if let failure { link.error = link.error ?? failure }
        if isOpen { pump(at: now) }
    }

    /// Closes the connection at once. Requests in progress fail.
    mutating func close(at now: Duration) {
        guard isOpen else { return }
        link.isClosing = true
        machine.abort()
        pump(at: now)
    }

    /// Handles expired timeouts. Calling early, late or twice is harmless.
    mutating func advance(_ timer: Duration, to now: Duration) {
        if link.timer == timer { link.timer = nil }
        guard isOpen else { return }
        machine.advance(to: now)
        for id in uploads {
            guard let deadline = streams[id]?.upload?.holdDeadline, deadline <= now else { continue }
            streams[id]?.upload?.holdDeadline = nil
        }
        if let deadline = link.pingDeadline, deadline <= now {
            link.error = link.error ?? .posix(.ETIMEDOUT)
            machine.inputEnded()
        }
        pump(at: now)
    }

    // MARK: Requests

    /// Resets the stream of an exchange that the engine has ended. The connection remains open.
    mutating func abandon(_ exchange: HTTPExchange, at now: Duration) {
        guard let id = ids[exchange.id], streams[id]?.exchange === exchange else { return }
        machine.reset(id)
        remove(id)
        pump(at: now)
    }

    mutating func readerHasRoom(_ exchange: HTTPExchange, at now: Duration) {
        guard let id = ids[exchange.id], streams[id]?.exchange === exchange else { return }
        while let stream = streams[id], stream.heldCount > 0, exchange.room() > 0, let piece = streams[id]?.popHeld() {
            exchange.reserve(piece.count)
            actions.append(.deliver(exchange, piece))
            machine.took(piece.count, of: id)
        }
        endIfRead(id)
        if isOpen { pump(at: now) }
    }

    // MARK: Machine

    /// Handles the events of the HTTP/2 state machine, and passes its output to the transport. Then requests content to
    /// send, and starts a receive.
    ///
    /// Received bytes are always read. Only the flow-control windows limit the content that the program has not read.
    mutating func pump(at now: Duration) {
        while isOpen {
            flush()
            guard let event = machine.nextEvent() else { break }
            handle(event)
            while let event = machine.nextEvent() { handle(event) }
        }
        guard isOpen else { return }
        pull()
        if !link.isReceiving {
            link.isReceiving = true
            actions.append(.receive)
        }
        setTimer()
    }

    private mutating func flush() {
        while link.pendingCount < HTTP2ConnectionDriver.outputLimit,
            let chunk = machine.nextOutput(atMost: HTTP2ConnectionDriver.outputLimit - link.pendingCount)
        {
            send(chunk)
        }
        for id in uploads { reportSent(id) }
    }

    private mutating func send(_ chunk: ByteChain) {
        link.pendingCount += chunk.count
        var chunk = chunk
        guard let first = chunk.popPiece() else { return }
        var content = Data(first)
        while let piece = chunk.popPiece() { content.append(contentsOf: piece) }
        actions.append(.send(content))
    }

    private mutating func handle(_ event: HTTP2Connection.Event) {
        switch event {
        case .settings(let settings):
            actions.append(.reportStreamLimit(settings.maxConcurrentStreams ?? .max))
        case .request, .pingAnswered, .drained: break
        case .informational(let id, let head): informed(head, id)
        case .response(let id, let head, let endsStream):
            responded(head, id)
            if endsStream { ended(id, FieldSection()) }
        case .content(let id, let content, let endsStream):
            received(content, id)
            if endsStream { ended(id, FieldSection()) }
        case .trailers(let id, let fields): ended(id, fields)
        case .closed(_, nil): break
        case .closed(let id, .connectionEnded?): lost.append(id)
        case .closed(let id, let failure?): failed(id, failure)
        case .goAway(_, let last, _):
            link.lastAcceptedID = last
            actions.append(.reportRetired)
        case .ended(let failure): connectionEnded(failure)
        }
    }

    private mutating func setTimer() {
        var due = machine.deadline
        if let deadline = link.pingDeadline { due = min(due ?? deadline, deadline) }
        for id in uploads {
            guard let deadline = streams[id]?.upload?.holdDeadline else { continue }
            due = min(due ?? deadline, deadline)
        }
        guard let due, link.timer.map({ due < $0 }) ?? true else { return }
        link.timer = due
        actions.append(.schedule(due))
    }

    // MARK: End

    /// Closes the transport, and ends the open streams. The connection is reported as closed first, so that a retried
    /// request uses another connection.
    private mutating func connectionEnded(_ failure: HTTP2ConnectionFailure?) {
        isOpen = false
        // Send the last output: first the control frames that are still queued, then the GOAWAY frame.
        if let last = machine.nextOutput() { send(last) }
        actions.append(.close(isInterrupted: link.error != nil || failure == .endedEarly))
        actions.append(.reportClosed)
        for id in lost {
            guard let stream = streams[id] else { continue }
            let end = end(of: stream, failure)
            streams[id]?.end = end
            stopUpload(id)
            endIfRead(id)
        }
        lost = []
        guard link.isClosing else { return }
        // The remaining streams contain content that their readers have not read. Fail their exchanges now. An exchange
        // and this connection refer to each other, so both would stay in memory if a reader never continued.
        for (id, stream) in streams {
            actions.append(.failExchange(stream.exchange, .closed))
            remove(id)
        }
    }

    /// Returns how one exchange ends when the whole connection ends.
    private func end(of stream: HTTP2ExchangeStream, _ failure: HTTP2ConnectionFailure?) -> HTTP2ExchangeStream.End {
        if link.isClosing { return .failed(.closed) }
        switch failure {
        case .violation(let violation): return .failed(.violation(violation))
        case .goAway(.http11Required, _): return .interrupted(.requiresHTTP1, .reset(.http11Required))
        case .goAway(let code, _): return .interrupted(.closedBeforeAnswer, .reset(code))
        case .endedEarly, .aborted, nil: break
        }
        guard stream.hasResponse else { return .interrupted(.closedBeforeAnswer, .noResponse(link.error)) }
        return .failed(
            .connectionLost(received: stream.receivedCount, expected: stream.expectedCount, link.error))
    }
}
