internal import DequeModule
package import CausewayWire

/// The server's side of one connection, in HTTP/1.1 or HTTP/2. The first bytes of the client decide which version it is (RFC 9113 §3.3).
///
/// The owner passes in received bytes, responses and the time. It takes events and the bytes to send, and reports content that the program
/// has consumed with ``took(_:of:at:)``. The last event of each request is exactly one ``Event/closed(_:isComplete:)``, and the last event
/// of the connection is exactly one ``Event/ended``.
package struct HTTPServerConnection: Sendable {
    /// Identifies a request of the connection: a stream of HTTP/2, or the number of a request of HTTP/1.
    package typealias RequestID = UInt32

    package enum Event: Equatable, Sendable {
        case requested(RequestID, HTTPServerRequestHead)
        /// A part of the content, or of the bytes of a tunnel. Never empty.
        case content(RequestID, ArraySlice<UInt8>)
        /// The end of the content, with the trailer fields. Not reported for a request without content. After an upgrade, the end of the
        /// client's bytes.
        case finished(RequestID, trailers: FieldSection)
        /// The content is longer than the limit. The rest of it is not reported.
        case refusedContent(RequestID)
        /// The client ended its side of the connection while a response is awaited. It may be gone.
        case clientEnded(RequestID)
        /// The last event of a request. It is incomplete if the client, the connection or the program interrupted it.
        case closed(RequestID, isComplete: Bool)
        /// The last event. Close the transport after the remaining output is sent.
        case ended(isInterrupted: Bool)
    }

    enum Version: Sendable {
        /// The first bytes of the client, while they can still become the preface of HTTP/2.
        case undecided([UInt8])
        case http1(HTTP1Serving)
        case http2(HTTP2Serving)
    }

    let limits: HTTPServerLimits
    let isSecure: Bool
    var version = Version.undecided([])
    var events: Deque<Event> = []
    var times: HTTPServerTimes
    var requestCount = 0
    var hasEnded = false
    var isShuttingDown = false
    /// Whether the transport has bytes that the client has not accepted.
    var isSending = false

    package init(_ limits: HTTPServerLimits, isSecure: Bool, at now: Duration) {
        self.limits = limits
        self.isSecure = isSecure
        times = HTTPServerTimes(limits, at: now)
    }

    /// Whether the owner should receive more bytes.
    package var wantsInput: Bool {
        guard !hasEnded else { return false }
        switch version {
        case .undecided: return true
        case .http1(let serving): return serving.wantsInput
        case .http2(let serving): return serving.machine.controlByteCount < 64 << 10
        }
    }

    /// Whether the connection uses HTTP/2.
    package var isHTTP2: Bool { if case .http2 = version { true } else { false } }

    /// Returns the number of bytes of a response that wait for ``nextOutput(atMost:)``.
    package func queuedByteCount(of id: RequestID) -> Int {
        switch version {
        case .undecided: 0
        case .http1(let serving): serving.machine.outputCount + serving.tunnelOutput.count
        case .http2(let serving): serving.machine.queuedByteCount(of: id)
        }
    }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? {
        if let event = events.popFirst() { return event }
        switch version {
        case .undecided: return nil
        case .http1: readHTTP1()
        case .http2: readHTTP2()
        }
        return events.popFirst()
    }

    /// Adds received bytes. Take events and output afterwards, and then call ``settle(at:)``.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        guard !hasEnded, !bytes.isEmpty else { return }
        times.input.moved(bytes.count, at: now)
        switch version {
        case .undecided(let earlier): decide(earlier, bytes, at: now)
        case .http1: modifyHTTP1 { $0.received(bytes) }
        case .http2: modifyHTTP2 { $0.machine.received(bytes, at: now) }
        }
    }

    /// Records the end of the client's bytes. Take events and output afterwards.
    package mutating func inputEnded() {
        guard !hasEnded else { return }
        switch version {
        case .undecided(let bytes) where bytes.isEmpty: end(isInterrupted: false)
        case .undecided(let bytes):
            beginHTTP1(bytes[...])
            modifyHTTP1 { $0.inputEnded() }
        case .http1(let serving):
            modifyHTTP1 { $0.inputEnded() }
            if let id = serving.awaitingID { events.append(.clientEnded(id)) }
        case .http2: modifyHTTP2 { $0.machine.inputEnded() }
        }
    }

    /// Removes and returns the next bytes to send.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        switch version {
        case .undecided: return nil
        case .http1:
            var output = ByteChain()
            modifyHTTP1 { output = $0.takeOutput() }
            return output.isEmpty ? nil : output
        case .http2:
            var output: ByteChain?
            modifyHTTP2 { serving in
                output = serving.machine.nextOutput(atMost: limit)
                serving.closeFinished()
            }
            return output
        }
    }

    /// Ends the connection at once. Requests in progress are interrupted.
    package mutating func abort() {
        switch version {
        case .undecided: end(isInterrupted: true)
        case .http1: modifyHTTP1 { $0.machine.abort() }
        case .http2: modifyHTTP2 { $0.machine.abort() }
        }
        if case .http1(let serving) = version, serving.isTunnel { endHTTP1(isInterrupted: true) }
    }

    /// Closes the connection as soon as the requests in progress are complete (RFC 9112 §9.6, RFC 9113 §6.8).
    package mutating func shutDown(at now: Duration) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        switch version {
        case .undecided: end(isInterrupted: false)
        case .http1: modifyHTTP1 { $0.machine.finish() }
        case .http2: modifyHTTP2 { $0.machine.shutDown(at: now) }
        }
    }

    /// Compares the first bytes of the client with the preface of HTTP/2.
    private mutating func decide(_ earlier: [UInt8], _ bytes: ArraySlice<UInt8>, at now: Duration) {
        let preface = HTTP2Connection.preface
        // A request of HTTP/1 rarely begins with "PRI", so its bytes are usually not copied.
        if earlier.isEmpty, bytes.first != preface[0] { return beginHTTP1(bytes) }
        let all = earlier + bytes
        let count = min(all.count, preface.count)
        guard all[..<count].elementsEqual(preface[..<count]) else { return beginHTTP1(all[...]) }
        guard count == preface.count else {
            version = .undecided(all)
            return
        }
        times.requested()
        var serving = HTTP2Serving(limits)
        serving.machine.started(at: now)
        serving.machine.received(all[...], at: now)
        if isShuttingDown { serving.machine.shutDown(at: now) }
        version = .http2(serving)
    }

    private mutating func beginHTTP1(_ bytes: ArraySlice<UInt8>) {
        var serving = HTTP1Serving(limits)
        serving.received(bytes)
        version = .http1(serving)
    }

    /// Records the end of the connection, once.
    mutating func end(isInterrupted: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        events.append(.ended(isInterrupted: isInterrupted))
    }

    // MARK: Access without a copy

    mutating func modifyHTTP1(_ body: (inout HTTP1Serving) -> Void) {
        guard case .http1(var serving) = version else { return }
        // The state is moved out of the property, so that its buffers have one owner and are not copied.
        version = .undecided([])
        body(&serving)
        version = .http1(serving)
    }

    mutating func modifyHTTP2(_ body: (inout HTTP2Serving) -> Void) {
        guard case .http2(var serving) = version else { return }
        version = .undecided([])
        body(&serving)
        version = .http2(serving)
    }
}

/// The head of a request of any version.
package struct HTTPServerRequestHead: Equatable, Sendable {
    package var method: String
    /// The path and the query in the form in which they were sent; `*` for some OPTIONS requests, the authority for CONNECT.
    package var target: String
    /// The host and port that the client named; `nil` if it named none.
    package var authority: String?
    package var version: HTTPVersion
    /// The protocol of an extended CONNECT request of HTTP/2 (RFC 8441 §4).
    package var protocolName: String?
    package var fields: FieldSection
    /// The stated length of the content; `nil` if the client states none.
    package var contentLength: Int?
    /// Whether content or trailer fields follow.
    package var hasContent: Bool
}

/// The content of a response, as far as it determines the framing.
package enum HTTPServerContent: Equatable, Sendable {
    case none
    case length(Int)
    /// Content of unknown length.
    case unknown
}
