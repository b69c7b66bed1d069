package import CausewayProtocols
package import CausewayWire

/// The reason why the connection rejects a call from the program.
package enum HTTPServerRefusal: Error, Equatable, Sendable {
    /// The request has ended, for example because the client closed the connection.
    case closed
    /// The message cannot be sent. The text names the fault.
    case invalid(String)

    init(_ failure: HTTP1Failure) {
        switch failure {
        case .unwritable(let error): self = .invalid("\(error)")
        case .misuse(let text): self = .invalid(text)
        case .syntax, .framing, .unsupportedCoding, .invalidRequest, .endedEarly, .endedWithoutResponse,
            .tooManyInformationalResponses, .unexpectedBytes, .unexpectedUpgrade, .aborted:
            self = .closed
        }
    }

    init(_ refusal: HTTP2Refusal) {
        switch refusal {
        case .invalid(let text): self = .invalid(text)
        case .closing, .exhausted, .closed: self = .closed
        }
    }
}

extension HTTPServerConnection {
    /// Sends an interim response (RFC 9110 §15.2).
    package mutating func inform(
        _ id: RequestID, _ status: Int, _ fields: FieldSection = FieldSection()
    ) throws(HTTPServerRefusal) {
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.machine.inform(
                HTTPResponseHead(status: status, reason: HTTPStatus.reason(status), fields: fields))
        } http2: { serving throws(HTTP2Refusal) in
            try serving.machine.respond(id, HTTP2ResponseHead(status: status, fields: fields), endsStream: false)
        }
    }

    /// Sends 100 (Continue) if the client expects it before it sends content (RFC 9110 §10.1.1). HTTP/1 only.
    package mutating func requestContent(_ id: RequestID) {
        if http1?.id == id, http1?.machine.awaitsContinue == true { try? inform(id, 100) }
    }

    /// Sends the response head. Send the content and the end afterwards, unless `content` is
    /// ``HTTPServerContent/none``.
    ///
    /// Content is discarded if the response cannot have any, so a program can handle HEAD like GET.
    package mutating func respond(
        _ id: RequestID, _ status: Int, _ fields: FieldSection, _ content: HTTPServerContent
    ) throws(HTTPServerRefusal) {
        guard status >= 200 else { throw .invalid("interim status of a final response") }
        try perform(id) { serving throws(HTTP1Failure) in
            let length: HTTP1BodyLength =
                switch content {
                case .none: .none
                case .length(let count): .length(count)
                case .unknown: .chunked
                }
            let head = HTTPResponseHead(status: status, reason: HTTPStatus.reason(status), fields: fields)
            try serving.machine.respond(head, body: length)
            serving.hasResponded = true
        } http2: { serving throws(HTTP2Refusal) in
            let method = serving.requests[id]?.method
            let opensTunnel = method == .connect && status < 300
            var fields = fields
            // A response that opens a tunnel has no length (RFC 9110 §8.6).
            if case .length(let count) = content, !fields.contains("content-length"), status != 204, !opensTunnel {
                fields.append("content-length", String(count))
            }
            let hasNoContent = content == .none || status == 204 || status == 304 || method == .head
            try serving.machine.respond(id, HTTP2ResponseHead(status: status, fields: fields), endsStream: hasNoContent)
            serving.update(id) { request in
                if hasNoContent { request.response = .withoutContent }
                if opensTunnel { request.method = .tunnel }
            }
        }
        if content == .none { completed(id) }
    }

    /// Sends response content or tunnel bytes.
    package mutating func send(_ id: RequestID, _ bytes: ByteChain) throws(HTTPServerRefusal) {
        guard !bytes.isEmpty else { return }
        try perform(id) { serving throws(HTTP1Failure) in
            if serving.isTunnel { return serving.tunnelOutput.append(bytes) }
            var bytes = bytes
            while let piece = bytes.popPiece() { try serving.machine.sendContent(piece) }
        } http2: { serving throws(HTTP2Refusal) in
            guard serving.requests[id]?.discardsResponse != true else { return }
            try serving.machine.send(id, bytes)
            serving.update(id) { $0.hasQueuedContent = true }
        }
    }

    /// Ends the response. Trailer fields are sent if the framing supports them. In a tunnel, ends the connection
    /// (HTTP/1) or the stream (HTTP/2).
    package mutating func finish(
        _ id: RequestID, trailers: FieldSection = FieldSection()
    ) throws(HTTPServerRefusal) {
        var endsTunnel = false
        try perform(id) { serving throws(HTTP1Failure) in
            endsTunnel = serving.isTunnel
            if !endsTunnel { try serving.machine.sendEnd(trailers: trailers) }
        } http2: { serving throws(HTTP2Refusal) in
            guard serving.requests[id]?.discardsResponse != true else { return }
            if trailers.isEmpty {
                try serving.machine.send(id, ByteChain(), endsStream: true)
            } else {
                try serving.machine.sendTrailers(id, trailers)
            }
        }
        completed(id)
        if endsTunnel { end(isInterrupted: false) }
    }

    /// Interrupts a request: resets the stream, or ends the HTTP/1 connection, so that the client notices the
    /// incomplete response.
    package mutating func interrupt(_ id: RequestID) {
        guard !closeSent(id) else { return }
        http2?.machine.reset(id, .internalError)
        guard http1?.id == id else { return }
        if http1?.isTunnel == true { endHTTP1(isInterrupted: true) } else { http1?.machine.abort() }
    }

    /// Switches the connection, or the stream of an extended CONNECT request, to another protocol. Content events then
    /// carry the client's bytes.
    package mutating func upgrade(_ id: RequestID, _ fields: FieldSection) throws(HTTPServerRefusal) {
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.machine.respond(HTTPResponseHead(status: 101, reason: "Switching Protocols", fields: fields))
            serving.hasResponded = true
        } http2: { serving throws(HTTP2Refusal) in
            try serving.machine.respond(id, HTTP2ResponseHead(status: 200, fields: fields), endsStream: false)
            serving.update(id) { $0.method = .tunnel }
        }
    }

    /// Returns flow-control credit to the client after the program has consumed content.
    package mutating func took(_ count: Int, of id: RequestID) {
        modifyHTTP1 { serving in if serving.id == id { serving.unread -= min(count, serving.unread) } }
        modifyHTTP2 { serving in
            serving.machine.took(count, of: id)
            serving.update(id) { $0.unread -= min(count, $0.unread) }
        }
    }

    /// Records that the program completed its response. An HTTP/1 request closes at once, an HTTP/2 request when its
    /// stream is closed too.
    private mutating func completed(_ id: RequestID) {
        if http1 != nil {
            http1?.id = nil
            events.append(.closed(id, isComplete: true))
        }
        guard !closeSent(id) else { return }
        modifyHTTP2 { serving in
            var isOpen = false
            serving.update(id) { request in
                request.response = .done
                isOpen = !request.hasRequestEnded
            }
            // The program reads no more content. After the response was sent, the client may stop sending (RFC 9113 §8.1).
            guard isOpen else { return }
            serving.finished.append(id)
            serving.closeFinished()
        }
    }

    private mutating func perform(
        _ id: RequestID, http1: (inout HTTP1Serving) throws(HTTP1Failure) -> Void,
        http2: (inout HTTP2Serving) throws(HTTP2Refusal) -> Void
    ) throws(HTTPServerRefusal) {
        var refusal: HTTPServerRefusal?
        guard self.http1?.id == id || self.http2?.requests[id] != nil else { throw .closed }
        modifyHTTP1 { serving in
            do throws(HTTP1Failure) { try http1(&serving) } catch { refusal = HTTPServerRefusal(error) }
        }
        modifyHTTP2 { serving in
            do throws(HTTP2Refusal) { try http2(&serving) } catch { refusal = HTTPServerRefusal(error) }
        }
        if let refusal { throw refusal }
    }
}
