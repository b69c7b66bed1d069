package import CausewayProtocols
internal import CausewayTypes
package import CausewayWire

/// The server side of one connection, HTTP/1.1 or HTTP/2. The client's first bytes select the version (RFC 9113 §3.3).
///
/// The caller passes in received bytes, responses and the time. It takes out events and the bytes to send, and reports
/// consumed content with ``took(_:of:)``. Each request's final event is exactly one ``Event/closed(_:isComplete:)``,
/// and the connection's final event is exactly one ``Event/ended(isInterrupted:)``.
package struct HTTPServerConnection: Sendable {
    /// Identifies a request within the connection: the HTTP/2 stream, or the HTTP/1 request number, from 1.
    package typealias RequestID = UInt32

    private let isSecure: Bool
    private var version = HTTPVersionDecision()
    /// The state for the connection's HTTP version. At most one of ``http1`` and ``http2`` is set.
    ///
    /// An enum is not used, because each change of its associated value would copy the value out and back in. These
    /// copies would take 15 % of a small request's time (`Benchmarks/server-ratios`).
    private var http1: HTTP1Serving?
    private var http2: HTTP2Serving?
    private var admission: HTTPServerAdmission
    private var times: HTTPServerTimes
    private var events = HTTPServerEventQueue()

    package init(_ limits: HTTPServerLimits, isSecure: Bool, at now: Duration) {
        self.isSecure = isSecure
        admission = HTTPServerAdmission(limits)
        times = HTTPServerTimes(limits, at: now)
    }

    package var hasEnded: Bool { events.hasEnded }

    /// Whether the connection can take more bytes from the transport.
    package var wantsInput: Bool { !hasEnded && (http1?.wantsInput ?? http2?.wantsInput ?? true) }

    /// Whether the connection uses HTTP/2.
    package var isHTTP2: Bool { http2 != nil }

    /// Whether the HTTP version is still unknown.
    private var isUndecided: Bool { http1 == nil && http2 == nil }

    /// Returns the number of response bytes that wait for ``nextOutput(atMost:)``.
    ///
    /// In HTTP/1, these are all queued bytes of the connection. In HTTP/2, these are the content bytes of this
    /// response.
    package func queuedByteCount(of id: RequestID) -> Int {
        http1?.outputCount ?? http2?.queuedByteCount(of: id) ?? 0
    }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? {
        if let event = events.popFirst() { return event }
        let requestCount = admission.count
        http1?.read(&admission, &events)
        http2?.read(&admission, &events)
        if admission.count != requestCount { times.requested() }
        return events.popFirst()
    }

    /// Removes and returns the next bytes to send. `limit` applies to HTTP/2; HTTP/1 returns all its output.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        if let count = http1?.outputCount { return count > 0 ? http1?.takeOutput() : nil }
        return http2?.nextOutput(atMost: limit)
    }

    /// Ends the connection at once. Requests in progress are interrupted.
    package mutating func abort() {
        if isUndecided { return events.end(isInterrupted: true) }
        http1?.abort(&events)
        http2?.abort(.noError, &events)
    }

    /// Closes the connection after the requests in progress (RFC 9112 §9.6, RFC 9113 §6.8).
    package mutating func shutDown(at now: Duration) {
        guard admission.shutDown() else { return }
        if isUndecided { return events.end(isInterrupted: false) }
        http1?.shutDown()
        http2?.shutDown(at: now)
    }
}

extension HTTPServerConnection: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}

// MARK: - Receiving

extension HTTPServerConnection {
    /// Adds received bytes. Take events and output afterwards, and then call ``settle(at:)``.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        guard !hasEnded, !bytes.isEmpty else { return }
        // With HTTP/2, only received content counts as the client's progress. ``HTTP2Serving/takeArrivedCount()``
        // counts it.
        if http2 == nil { times.received(bytes.count, at: now) }
        if http1 != nil {
            http1?.received(bytes)
        } else if http2 != nil {
            http2?.received(bytes, at: now)
        } else {
            switch version.received(bytes) {
            case .http1(let bytes): beginHTTP1(bytes)
            case .http2(let bytes): beginHTTP2(bytes, at: now)
            case .undecided: break
            }
        }
    }

    /// Records that the client has ended its sending direction. The caller takes the events and the output afterwards.
    package mutating func inputEnded() {
        guard !hasEnded else { return }
        http2?.inputEnded()
        guard http2 == nil else { return }
        if http1 == nil {
            guard !version.isEmpty else { return events.end(isInterrupted: false) }
            beginHTTP1(version.takeBytes())
        }
        http1?.inputEnded(&events)
    }

    private mutating func beginHTTP1(_ bytes: ArraySlice<UInt8>) {
        var serving = HTTP1Serving(admission.limits)
        serving.received(bytes)
        http1 = serving
    }

    private mutating func beginHTTP2(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        times.requested()
        var serving = HTTP2Serving(admission.limits)
        serving.started(at: now)
        serving.received(bytes, at: now)
        if admission.isShuttingDown { serving.shutDown(at: now) }
        http2 = serving
    }

    /// Returns flow-control credit to the client after the program has consumed content.
    package mutating func took(_ count: Int, of id: RequestID) {
        http1?.took(count, of: id)
        http2?.took(count, of: id)
    }
}

// MARK: - Sending

extension HTTPServerConnection {
    /// Sends an interim response (RFC 9110 §15.2).
    package mutating func inform(
        _ id: RequestID, _ status: Int, _ fields: FieldSection = FieldSection()
    ) throws(HTTPServerRefusal) {
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.inform(status, fields)
        } http2: { serving throws(HTTP2Refusal) in
            try serving.inform(id, status, fields)
        }
    }

    /// Sends 100 (Continue) if the client waits for it before sending content (RFC 9110 §10.1.1).
    package mutating func requestContent(_ id: RequestID) {
        if http1?.id == id, http1?.awaitsContinue == true { try? inform(id, 100) }
        http2?.requestContent(id)
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
            try serving.respond(status, fields, content)
        } http2: { serving throws(HTTP2Refusal) in
            try serving.respond(id, status, fields, content)
        }
        if content == .none { completed(id) }
    }

    /// Sends response content or tunnel bytes.
    package mutating func send(_ id: RequestID, _ bytes: ByteChain) throws(HTTPServerRefusal) {
        guard !bytes.isEmpty else { return }
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.send(bytes)
        } http2: { serving throws(HTTP2Refusal) in
            try serving.send(id, bytes)
        }
    }

    /// Ends the response. Trailer fields are sent if the framing supports them. In a tunnel, ends the connection
    /// (HTTP/1) or the stream (HTTP/2).
    package mutating func finish(
        _ id: RequestID, trailers: FieldSection = FieldSection()
    ) throws(HTTPServerRefusal) {
        let endsTunnel = http1?.isTunnel == true
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.finish(trailers)
        } http2: { serving throws(HTTP2Refusal) in
            try serving.finish(id, trailers)
        }
        completed(id)
        if endsTunnel { events.end(isInterrupted: false) }
    }

    /// Interrupts a request: resets the stream, or ends the HTTP/1 connection, so that the client notices the
    /// incomplete response.
    package mutating func interrupt(_ id: RequestID) {
        http1?.interrupt(id, &events)
        http2?.interrupt(id, &events)
    }

    /// Switches the connection, or the stream of an extended CONNECT request, to another protocol. Content events then
    /// carry the client's bytes.
    package mutating func upgrade(_ id: RequestID, _ fields: FieldSection) throws(HTTPServerRefusal) {
        try perform(id) { serving throws(HTTP1Failure) in
            try serving.upgrade(fields)
        } http2: { serving throws(HTTP2Refusal) in
            try serving.upgrade(id, fields)
        }
    }

    /// Records that the program completed its response. In HTTP/1, the request then closes at once. In HTTP/2, the
    /// request closes when its stream closes, or at once if the stream is already closed.
    private mutating func completed(_ id: RequestID) {
        http1?.completed(id, &events)
        http2?.completed(id, &events)
    }

    /// Calls the closure for the connection's HTTP version. The closure changes the state of this version in place.
    /// Throws ``HTTPServerRefusal/closed`` if the request has ended.
    private mutating func perform(
        _ id: RequestID, http1: (inout HTTP1Serving) throws(HTTP1Failure) -> Void,
        http2: (inout HTTP2Serving) throws(HTTP2Refusal) -> Void
    ) throws(HTTPServerRefusal) {
        if self.http1?.id == id {
            do throws(HTTP1Failure) { try http1(&self.http1!) } catch { throw HTTPServerRefusal(error) }
        } else if self.http2?.contains(id) == true {
            do throws(HTTP2Refusal) { try http2(&self.http2!) } catch { throw HTTPServerRefusal(error) }
        } else {
            throw .closed
        }
    }
}

// MARK: - Time

extension HTTPServerConnection {
    /// The next time at which ``advance(to:)`` has work to do.
    package var deadline: Duration? {
        guard !hasEnded else { return nil }
        let next = times.earliestDeadline
        guard let own = http2?.earliestDeadline else { return next }
        return min(next ?? own, own)
    }

    /// The time at which the connection began to wait for a request, or for the rest of a request head. `nil` if it is
    /// not waiting. The server may close a waiting connection so that another client can connect.
    package var waitStart: Duration? { hasEnded ? nil : times.waitStart }

    /// Records that the transport accepted `count` bytes. `hasMore` tells whether the transport still has bytes to
    /// send.
    package mutating func sent(_ count: Int, hasMore: Bool, at now: Duration) {
        times.sent(http2?.accepted(count) ?? count, hasMore: hasMore, at: now)
    }

    /// Records that the transport has bytes that the client has not accepted yet.
    package mutating func sending() { times.sending() }

    /// Starts and stops the timeouts to match the current state. If one event causes several calls, make this call
    /// last.
    package mutating func settle(at now: Duration) {
        guard !hasEnded else { return }
        if let phase = http1?.phase {
            times.settle(phase, awaitsContent: http1?.awaitsContent == true, isBlocked: false, at: now)
        } else if let isIdle = http2?.isEmpty {
            http2?.settle(at: now)
            if let count = http2?.takeArrivedCount(), count > 0 { times.received(count, at: now) }
            times.settle(
                isIdle ? .idle : .busy, awaitsContent: http2?.awaitsContent == true,
                isBlocked: http2?.hasQueuedContent == true, at: now)
        } else {
            times.enter(version.isEmpty ? .idle : .head, at: now)
        }
    }

    /// Handles expired timeouts. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) {
        guard !hasEnded else { return }
        http2?.advance(at: now)
        switch times.expiry(at: now) {
        case .output: abort()
        case .input: clientStalled()
        case .idle:
            times.enter(.busy, at: now)
            shutDown(at: now)
        case nil: break
        }
    }

    /// Ends a connection whose client does not send its request in time: status 408 (RFC 9110 §15.5.9), or GOAWAY with
    /// ENHANCE_YOUR_CALM.
    private mutating func clientStalled() {
        times.stalled()
        if isUndecided { return events.end(isInterrupted: false) }
        http1?.timedOut()
        http2?.abort(.enhanceYourCalm, &events)
    }
}
