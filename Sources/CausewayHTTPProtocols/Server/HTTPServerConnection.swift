internal import CausewayMachines
internal import DequeModule
package import CausewayProtocols
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

    let limits: HTTPServerLimits
    let isSecure: Bool
    /// The first bytes of the client, while they can still become the preface of HTTP/2.
    var undecided: [UInt8] = []
    /// The state of the version in use; the other one is `nil`, and both before the version is known. They are not cases of an enum, because
    /// a case can be changed only by copying its value out and in: 15 % of a small request (`Benchmarks/server-ratios`).
    var http1: HTTP1Serving?
    var http2: HTTP2Serving?
    var events: Deque<Event> = []
    var times: HTTPServerTimes
    var requestCount = 0
    package internal(set) var hasEnded = false
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
        if let wantsInput = http1?.wantsInput { return wantsInput }
        if let count = http2?.machine.controlByteCount { return count < 64 << 10 }
        return true
    }

    /// Whether the connection uses HTTP/2.
    package var isHTTP2: Bool { http2 != nil }

    /// Returns the number of bytes of a response that wait for ``nextOutput(atMost:)``.
    package func queuedByteCount(of id: RequestID) -> Int {
        http1?.outputCount ?? http2?.machine.queuedByteCount(of: id) ?? 0
    }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? {
        if let event = events.popFirst() { return event }
        readHTTP1()
        readHTTP2()
        return events.popFirst()
    }

    /// Adds received bytes. Take events and output afterwards, and then call ``settle(at:)``.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        guard !hasEnded, !bytes.isEmpty else { return }
        times.input.moved(bytes.count, at: now)
        if http1 != nil {
            http1?.received(bytes)
        } else if http2 != nil {
            http2?.machine.received(bytes, at: now)
        } else {
            decide(bytes, at: now)
        }
    }

    /// Records the end of the client's bytes. Take events and output afterwards.
    package mutating func inputEnded() {
        guard !hasEnded else { return }
        http2?.machine.inputEnded()
        guard http2 == nil else { return }
        if http1 == nil {
            guard !undecided.isEmpty else { return end(isInterrupted: false) }
            beginHTTP1(undecided[...])
        }
        let awaitingID = http1?.awaitingID
        http1?.inputEnded()
        if let awaitingID { events.append(.clientEnded(awaitingID)) }
    }

    /// Removes and returns the next bytes to send.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        if let count = http1?.outputCount { return count > 0 ? http1?.takeOutput() : nil }
        let output = http2?.machine.nextOutput(atMost: limit)
        http2?.closeFinished()
        return output
    }

    /// Ends the connection at once. Requests in progress are interrupted.
    package mutating func abort() {
        if isUndecided { return end(isInterrupted: true) }
        http1?.machine.abort()
        http2?.machine.abort()
        if http1?.isTunnel == true { endHTTP1(isInterrupted: true) }
    }

    /// Closes the connection as soon as the requests in progress are complete (RFC 9112 §9.6, RFC 9113 §6.8).
    package mutating func shutDown(at now: Duration) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        if isUndecided { return end(isInterrupted: false) }
        http1?.machine.finish()
        http2?.machine.shutDown(at: now)
    }

    /// Whether the version is not known yet.
    var isUndecided: Bool { http1 == nil && http2 == nil }

    /// Compares the first bytes of the client with the preface of HTTP/2.
    private mutating func decide(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        let preface = HTTP2Connection.preface
        // A request of HTTP/1 rarely begins with "PRI", so its bytes are usually not copied.
        if undecided.isEmpty, bytes.first != preface[0] { return beginHTTP1(bytes) }
        let all = undecided + bytes
        let count = min(all.count, preface.count)
        guard all[..<count].elementsEqual(preface[..<count]) else { return beginHTTP1(all[...]) }
        guard count == preface.count else {
            undecided = all
            return
        }
        times.requested()
        var serving = HTTP2Serving(limits)
        serving.machine.started(at: now)
        serving.machine.received(all[...], at: now)
        if isShuttingDown { serving.machine.shutDown(at: now) }
        http2 = serving
        undecided = []
    }

    private mutating func beginHTTP1(_ bytes: ArraySlice<UInt8>) {
        var serving = HTTP1Serving(limits)
        serving.received(bytes)
        http1 = serving
        undecided = []
    }

    /// Records the end of the connection, once.
    mutating func end(isInterrupted: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        events.append(.ended(isInterrupted: isInterrupted))
    }

    // MARK: Access without a copy

    mutating func modifyHTTP1(_ body: (inout HTTP1Serving) -> Void) { if http1 != nil { body(&http1!) } }

    mutating func modifyHTTP2(_ body: (inout HTTP2Serving) -> Void) { if http2 != nil { body(&http2!) } }
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

extension HTTPServerConnection: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
