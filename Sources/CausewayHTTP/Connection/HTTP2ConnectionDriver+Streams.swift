internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import FoundationEssentials

extension HTTP2ConnectionDriver.State {
    // MARK: Request

    mutating func begin(_ next: HTTPExchange, at now: Duration) {
        guard isOpen, machine.acceptsRequests else {
            if isOpen { actions.append(.reportFinished) }
            actions.append(.interrupt(next, .notStarted, .noResponse(link.error)))
            return
        }
        guard next.beginSending() else { return actions.append(.reportFinished) }
        do throws(HTTPFailure) {
            try start(next, at: now)
            // If the connection accepts no more requests now, this request has used the last stream identifier (RFC
            // 9113 §5.1.1). So report that the connection is retired.
            if !machine.acceptsRequests { actions.append(.reportRetired) }
        } catch {
            actions.append(.reportFinished)
            actions.append(.failExchange(next, error))
        }
        checkConnection(at: now)
        pump(at: now)
    }

    private mutating func start(_ next: HTTPExchange, at now: Duration) throws(HTTPFailure) {
        let head = try next.request.http2Head(next.body)
        let (length, source) = next.body.upload
        let id: HTTP2StreamID
        do throws(HTTP2Refusal) {
            id = try machine.request(head, endsStream: length == 0, priority: HTTPPriority(urgency: next.urgency))
        } catch {
            throw HTTPFailure(error)
        }
        var stream = HTTP2ExchangeStream(next)
        ids[next.id] = id
        if length != 0 {
            uploads.append(id)
            stream.upload = HTTP2Upload(source, length: length)
            if head.fields.hasElement("100-continue", in: "Expect") {
                stream.upload?.holdDeadline = now + options.http1.continueTimeout
            }
        }
        streams[id] = stream
    }

    /// Sends a ping if nothing has arrived for some time, because the network may have dropped the connection silently.
    ///
    /// If no reply arrives, the connection ends. Requests can then be retried on another connection.
    private mutating func checkConnection(at now: Duration) {
        guard isOpen, link.pingDeadline == nil, now - link.lastArrival >= options.pingDelay,
            machine.sendPing(UInt64(truncatingIfNeeded: now.components.attoseconds))
        else { return }
        link.pingDeadline = now + options.pingTimeout
    }

    /// Sends the server the new priority of an exchange. Only the urgency in the priority changes.
    mutating func reprioritize(_ exchange: HTTPExchange, at now: Duration) {
        guard isOpen, let id = ids[exchange.id], streams[id]?.exchange === exchange,
            var priority = machine.priority(of: id)
        else { return }
        priority.urgency = exchange.urgency
        machine.setPriority(id, priority)
        pump(at: now)
    }

    /// Requests more content from each content source whose stream has too few bytes to send. The limit is
    /// ``HTTP2ConnectionDriver/outputLimit`` unsent bytes per stream.
    mutating func pull() {
        for id in uploads {
            guard let upload = streams[id]?.upload, upload.isReady, let source = upload.source,
                machine.queuedByteCount(of: id) < HTTP2ConnectionDriver.outputLimit
            else { continue }
            streams[id]?.upload?.isPulling = true
            actions.append(.pull(source, id))
        }
    }

    /// Handles a chunk of request content.
    mutating func produced(_ piece: HTTPBodyPiece, _ id: HTTP2StreamID, at now: Duration) {
        guard isOpen, streams[id]?.upload?.source != nil else { return }
        streams[id]?.upload?.isPulling = false
        switch piece {
        case .content(let content):
            let fits = streams[id]?.upload?.add(content.count) ?? false
            guard fits else { return refuse(id, .invalidRequest(.misuse("content longer than stated")), at: now) }
            try? machine.send(id, ByteChain(Array(content)))
        case .end(let trailers):
            guard streams[id]?.upload?.missingCount ?? 0 == 0 else {
                return refuse(id, .invalidRequest(.misuse("content shorter than stated")), at: now)
            }
            streams[id]?.upload?.source = nil
            do throws(HTTP2Refusal) {
                if trailers.isEmpty {
                    try machine.send(id, ByteChain(), endsStream: true)
                } else {
                    try machine.sendTrailers(id, trailers)
                }
            } catch {
                return refuse(id, HTTPFailure(error), at: now)
            }
        case .failure(let error): return refuse(id, .contentFailed(error), at: now)
        }
        pump(at: now)
    }

    /// Ends a stream and its request, because the request cannot be sent completely.
    private mutating func refuse(_ id: HTTP2StreamID, _ failure: HTTPFailure, at now: Duration) {
        if let exchange = streams[id]?.exchange { actions.append(.failExchange(exchange, failure)) }
        machine.reset(id)
        remove(id)
        pump(at: now)
    }

    /// Reports the number of content bytes that were passed to the transport since the latest report.
    mutating func reportSent(_ id: HTTP2StreamID) {
        guard let exchange = streams[id]?.exchange, let upload = streams[id]?.upload else { return }
        let queued = machine.queuedByteCount(of: id)
        if queued < upload.queuedCount {
            actions.append(.reportSent(exchange, upload.queuedCount - queued))
            streams[id]?.upload?.queuedCount = queued
        }
        if upload.source == nil, queued == 0 { endUpload(id) }
    }

    /// Stops the source of a request's content, because the content is not needed.
    mutating func stopUpload(_ id: HTTP2StreamID) {
        if let source = streams[id]?.upload?.source { actions.append(.stop(source)) }
        endUpload(id)
    }

    private mutating func endUpload(_ id: HTTP2StreamID) {
        guard streams[id]?.upload != nil else { return }
        streams[id]?.upload = nil
        uploads.removeAll { $0 == id }
    }

    // MARK: Response

    mutating func informed(_ head: HTTP2ResponseHead, _ id: HTTP2StreamID) {
        guard let exchange = streams[id]?.exchange else { return }
        streams[id]?.informationalCount += 1
        let limit = options.http1.maximumInformationalCount
        guard streams[id]?.informationalCount ?? 0 <= limit else {
            actions.append(.failExchange(exchange, .invalidResponse(.tooManyInformationalResponses(limit: limit))))
            machine.reset(id)
            return remove(id)
        }
        if head.status == 100 { streams[id]?.upload?.holdDeadline = nil }
        actions.append(.inform(exchange, HTTPResponseHead(status: head.status, version: .http2, fields: head.fields)))
    }

    mutating func responded(_ head: HTTP2ResponseHead, _ id: HTTP2StreamID) {
        guard let exchange = streams[id]?.exchange else { return }
        // The server responded without waiting for the content, so the content is not sent (RFC 9110 §10.1.1).
        if streams[id]?.upload?.holdDeadline != nil { stopUpload(id) }
        streams[id]?.hasResponse = true
        if case .success(let length)? = head.fields.contentLength { streams[id]?.expectedCount = length }
        actions.append(.respond(exchange, HTTPResponseHead(status: head.status, version: .http2, fields: head.fields)))
    }

    mutating func received(_ content: ArraySlice<UInt8>, _ id: HTTP2StreamID) {
        guard !content.isEmpty else { return }
        switch streams[id]?.accept(content) {
        case .held: return
        case .reserved(let exchange): actions.append(.deliver(exchange, content.withUnsafeBytes { Data($0) }))
        case nil: break
        }
        machine.took(content.count, of: id)
    }

    /// Handles the end of the response.
    mutating func ended(_ id: HTTP2StreamID, _ trailers: FieldSection) {
        guard streams[id] != nil else { return }
        streams[id]?.end = .finished(trailers)
        // The server does not need the rest of the request (RFC 9113 §8.1).
        stopUpload(id)
        machine.reset(id)
        endIfRead(id)
    }

    /// Handles a stream that closed before its response was complete.
    mutating func failed(_ id: HTTP2StreamID, _ failure: HTTP2StreamFailure) {
        guard let stream = streams[id], stream.end == nil else { return }
        stopUpload(id)
        let end: HTTP2ExchangeStream.End =
            switch failure {
            case .unprocessed:
                .interrupted(1..<id ~= link.lastAcceptedID ? .goneAway : .refusedStream, .reset(.refusedStream))
            case .reset(.http11Required): .interrupted(.requiresHTTP1, .reset(.http11Required))
            case .reset(let code): .failed(.reset(code))
            case .violation(let violation): .failed(.violation(violation))
            case .fieldsTooLarge:
                .failed(.invalidResponse(.syntax(.limitExceeded("bytes of fields", limit: options.fieldLimit))))
            case .cancelled, .connectionEnded: .failed(.cancelled)
            }
        streams[id]?.end = end
        endIfRead(id)
    }

    /// If an exchange has ended and its reader has received all content, reports the end. First frees the stream in the
    /// pool, so that the reader's next request can use the connection.
    mutating func endIfRead(_ id: HTTP2StreamID) {
        guard let stream = streams[id], let end = stream.end, stream.heldCount == 0 else { return }
        let whole = end.isWithoutTrailers ? takeWhole(of: stream.exchange) : nil
        remove(id)
        switch end {
        case .finished(let trailers): actions.append(whole ?? .finish(stream.exchange, trailers))
        case .interrupted(let occasion, let failure):
            actions.append(.interrupt(stream.exchange, occasion, failure))
        case .failed(let failure): actions.append(.failExchange(stream.exchange, failure))
        }
    }

    /// Combines the actions that report a response's head and content, if the whole response arrived in one piece.
    /// Removes these actions and returns one action that reports both; otherwise returns `nil`.
    private mutating func takeWhole(of exchange: HTTPExchange) -> HTTP2ConnectionDriver.Action? {
        var (content, index) = (Data?.none, actions.count - 1)
        if index > 0, case .deliver(let receiver, let piece) = actions[index], receiver === exchange {
            (content, index) = (piece, index - 1)
        }
        guard index >= 0, case .respond(let receiver, let head) = actions[index], receiver === exchange else {
            return nil
        }
        actions.removeSubrange(index...)
        return .complete(exchange, head, content)
    }

    /// Removes a stream.
    mutating func remove(_ id: HTTP2StreamID) {
        stopUpload(id)
        guard var stream = streams.removeValue(forKey: id) else { return }
        ids[stream.exchange.id] = nil
        machine.took(stream.dropHeld(), of: id)
        if isOpen { actions.append(.reportFinished) }
    }
}
