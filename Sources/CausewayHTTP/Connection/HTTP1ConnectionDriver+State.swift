internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

extension HTTP1ConnectionDriver.State {
    // MARK: Transport

    /// Handles the failure of an established transport.
    ///
    /// If a receive is pending, the input continues. It ends with the result of the receive, after the content from
    /// before the failure has been delivered.
    mutating func lost(_ failure: NWError) {
        error = error ?? failure
        guard isOpen, !isReceiving else { return }
        machine.inputEnded(isClean: false)
        pump()
    }

    mutating func arrived(_ arrival: HTTPArrival) {
        isReceiving = false
        if let stream = successor.take() { return actions.append(.passArrival(arrival, stream)) }
        guard isOpen else { return }
        if let content = arrival.content, !content.isEmpty { take(content) }
        if let failure = arrival.error { error = error ?? failure }
        if arrival.isEnd || arrival.error != nil { machine.inputEnded(isClean: arrival.error == nil) }
        pump()
    }

    /// Passes received bytes to the HTTP/1.1 state machine. If the machine permits it, response content bypasses the
    /// machine and goes directly to the exchange.
    private mutating func take(_ bytes: Data) {
        guard let exchange else { return machine.received(Array(bytes)[...]) }
        let (count, head) = unsafe bytes.withUnsafeBytes { buffer in
            unsafe machine.receivedHead(buffer.bindMemory(to: UInt8.self).span)
        }
        if let head {
            guard case .responded = head else {
                // This head is not followed by content of a final response. Bytes after it belong to another response,
                // or to another protocol.
                machine.received(Array(bytes.dropFirst(count))[...])
                return handle(head)
            }
            handle(head)
        }
        deliver(bytes, from: count, to: exchange)
    }

    private mutating func deliver(_ bytes: Data, from start: Int, to exchange: HTTPExchange) {
        guard start < bytes.count else { return }
        let end = start + machine.bypass(min(bytes.count - start, exchange.room()))
        if end > start {
            exchange.reserve(end - start)
            // If the exchange receives only a part of the data, copy that part. A slice would not begin at index 0, but
            // programs expect index 0.
            let isWhole = end - start == bytes.count
            actions.append(.deliver(exchange, isWhole ? bytes : Data(bytes.dropFirst(start).prefix(end - start))))
        }
        if end < bytes.count { machine.received(Array(bytes.dropFirst(end))[...]) }
    }

    mutating func sent(_ count: Int, _ failure: NWError?, now: () -> Duration) {
        pendingCount -= count
        if let failure { error = error ?? failure }
        if let exchange {
            let count = machine.dropsBody ? 0 : content.advance(unsent: pendingCount + machine.outputCount)
            if count > 0 {
                actions.append(.reportSent(exchange, count))
            } else if exchange.request.idleTimeout != nil {
                exchange.progressed(at: now())
            }
        }
        if isOpen { pump() }
    }

    mutating func close(isInterrupted: Bool) {
        guard isOpen else { return }
        isOpen = false
        if let exchange { actions.append(.failExchange(exchange, .closed)) }
        exchange = nil
        source = nil
        actions.append(.close(isInterrupted: isInterrupted))
        actions.append(.reportClosed)
    }

    // MARK: Requests

    /// - Parameter forwarder: Prepares the request for a forwarding proxy; `nil` if there is no such proxy.
    mutating func begin(_ next: HTTPExchange, _ forwarder: RequestForwarder?, at now: Duration) {
        // The peer may have closed the connection after the pool chose it for this request. Report the request as not
        // started, so that another connection can send it.
        guard isOpen, exchange == nil, machine.isIdle else {
            actions.append(.interrupt(next, .notStarted, .noResponse(error)))
            return
        }
        guard next.beginSending(at: now) else {
            actions.append(.reportFinished(isReusable: true, KeepAlive(FieldSection())))
            return
        }
        do throws(HTTP1Failure) {
            let head = forwarder?.head(of: next.request) ?? next.request.head
            try machine.send(head, body: next.body.length, at: now)
            exchange = next
            content = .init()
            switch next.body {
            case .none: break
            case .data(let data) where data.count > HTTP1ConnectionDriver.outputLimit: source = DataBodySource(data)
            case .data(let data):
                content.given = data.count
                try machine.sendContent(Array(data)[...])
                try machine.sendEnd()
            case .stream(let stream, _): source = stream
            }
        } catch {
            actions.append(.failExchange(next, HTTPFailure(error, nil)))
            if exchange == nil {
                actions.append(.reportFinished(isReusable: true, KeepAlive(FieldSection())))
            } else {
                machine.abort()
            }
        }
        if let deadline = machine.deadline { actions.append(.schedule(deadline - now)) }
        pump()
    }

    /// Handles a chunk of request content.
    mutating func produced(_ piece: HTTPBodyPiece, _ owner: HTTPExchange) {
        guard exchange === owner, source != nil else { return }
        isPulling = false
        do throws(HTTP1Failure) {
            switch piece {
            case .content(let piece):
                content.given += piece.count
                try machine.sendContent(Array(piece)[...])
            case .end(let trailers):
                source = nil
                try machine.sendEnd(trailers: trailers)
            case .failure(let error):
                actions.append(.failExchange(owner, .contentFailed(error)))
                machine.abort()
            }
        } catch {
            actions.append(.failExchange(owner, HTTPFailure(error, nil)))
            machine.abort()
        }
        pump()
    }

    // MARK: Machine

    /// Sends the output of the HTTP/1.1 state machine and handles its events. Then requests more content to send.
    /// Starts a receive if the reader's buffer has space.
    mutating func pump() {
        guard isOpen else { return }
        flush()
        var room = HTTPExchange.unreadLimit
        while true {
            if let exchange { room = exchange.room() }
            guard let event = machine.nextEvent(atMost: room) else { break }
            handle(event)
        }
        guard isOpen else { return }
        // The request body may be waiting for a response with status 100. Such a response may just have arrived, so
        // send the body now.
        flush()
        pull()
        if !isReceiving, exchange == nil || room > 0 {
            isReceiving = true
            actions.append(.receive(room))
        }
    }

    private mutating func flush() {
        guard machine.hasOutput else { return }
        var output = machine.takeOutput()
        while let piece = output.popPiece() {
            pendingCount += piece.count
            actions.append(.send(piece.withUnsafeBytes { Data($0) }))
        }
    }

    private mutating func pull() {
        guard let source, let exchange, !isPulling,
            pendingCount + machine.outputCount < HTTP1ConnectionDriver.outputLimit
        else { return }
        isPulling = true
        actions.append(.pull(source, exchange))
    }

    /// Reports the content that was sent before a response event. All bytes passed to the transport count as sent.
    ///
    /// The report cannot wait for the transport, because the transport may confirm the content only after the event.
    private mutating func noteSent() {
        guard let exchange, !machine.dropsBody else { return }
        let count = content.advance(unsent: machine.outputCount)
        if count > 0 { actions.append(.reportSent(exchange, count)) }
    }

    private mutating func handle(_ event: consuming HTTP1Client.Event) {
        switch consume event {
        case .informational(let head):
            noteSent()
            if let exchange { actions.append(.inform(exchange, head)) }
        case .responded(let head, _):
            noteSent()
            if let exchange { actions.append(.respond(exchange, head)) }
        case .content(let content):
            guard let exchange else { return }
            exchange.reserve(content.count)
            actions.append(.deliver(exchange, content.withUnsafeBytes { Data($0) }))
        case .finished(let trailers, let reuse):
            noteSent()
            finish(trailers, reuse)
        case .upgraded(let head): handOver(head)
        case .ended(let failure): end(failure)
        }
    }

    /// Ends the exchange.
    ///
    /// The connection returns to the pool before the reader is resumed. So the reader's next request can use this
    /// connection again.
    private mutating func finish(_ trailers: FieldSection, _ reuse: HTTP1Client.Reuse) {
        guard let ended = exchange.take() else { return }
        let whole = trailers.isEmpty ? takeWhole(of: ended) : nil
        stopSource()
        switch reuse {
        case .permitted(let keepAlive):
            actions.append(.reportFinished(isReusable: keepAlive.maximum != 0, keepAlive))
        case .refused: break
        }
        actions.append(whole ?? .finish(ended, trailers))
    }

    /// Combines two actions into one if the whole response arrived at once.
    ///
    /// Removes the actions that would report the response's head and its content. Returns one action that reports both.
    /// Otherwise returns `nil`.
    private mutating func takeWhole(of exchange: HTTPExchange) -> HTTP1ConnectionDriver.Action? {
        var (content, index) = (Data?.none, actions.count - 1)
        if index > 0, case .deliver(_, let piece) = actions[index] { (content, index) = (piece, index - 1) }
        guard index >= 0, case .respond(_, let head) = actions[index] else { return nil }
        actions.removeSubrange(index...)
        return .complete(exchange, head, content)
    }

    /// Takes the connection out of the pool, and passes its transport to the request's observer.
    private mutating func handOver(_ head: HTTPResponseHead) {
        guard let ended = exchange.take() else { return }
        stopSource()
        isOpen = false
        actions.append(.reportClosed)
        actions.append(.handOver(ended, head, Data(machine.takeRemainingInput().bytes)))
    }

    /// Takes the connection out of the pool in the middle of a response, and passes its transport to the request's
    /// observer. If that is not possible, reports this to the exchange instead.
    mutating func handOverRest(_ transport: any HTTPTransport) {
        guard let exchange else { return }
        guard machine.handOver() else { return actions.append(.handOverRest(exchange, nil)) }
        self.exchange = nil
        stopSource()
        isOpen = false
        let end = machine.inputEnd
        let unread = HTTPArrival(
            content: Data(machine.takeRemainingInput().bytes), isEnd: end == true,
            error: end == false ? error ?? .posix(.ECONNRESET) : nil)
        let stream = HTTPUpgradedStream(transport, unread, isReceiving: isReceiving)
        if isReceiving { successor = stream }
        actions.append(.reportClosed)
        actions.append(.handOverRest(exchange, stream))
    }

    private mutating func end(_ failure: HTTP1Failure?) {
        let ended = exchange.take()
        stopSource()
        isOpen = false
        actions.append(.close(isInterrupted: ended != nil))
        actions.append(.reportClosed)
        guard let ended else { return }
        let occasion: RetryOccasion = failure == .endedWithoutResponse ? .closedBeforeAnswer : .closedInAnswer
        actions.append(.interrupt(ended, occasion, HTTPFailure(failure, error)))
    }

    private mutating func stopSource() {
        if let source { actions.append(.stop(source)) }
        source = nil
        isPulling = false
    }
}

extension HTTPRequestBody {
    /// The body framing in HTTP/1.
    fileprivate var length: HTTP1BodyLength {
        switch self {
        case .none: .none
        case .data(let data): .length(data.count)
        case .stream(_, let length?): .length(length)
        case .stream(_, nil): .chunked
        }
    }
}
