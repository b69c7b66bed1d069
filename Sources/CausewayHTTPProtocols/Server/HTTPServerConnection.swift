internal import CausewayMachines
internal import DequeModule
package import CausewayProtocols
package import CausewayWire

/// The server side of one connection, HTTP/1.1 or HTTP/2. The client's first bytes select the version (RFC 9113 §3.3).
///
/// The owner passes in received bytes, responses and the time. It takes events and output, and reports consumed content
/// with ``took(_:of:)``. Each request's last event is exactly one ``Event/closed(_:isComplete:)``, and the connection's
/// last event is exactly one ``Event/ended(isInterrupted:)``.
package struct HTTPServerConnection: Sendable {
    /// Identifies a request within the connection: the HTTP/2 stream, or the HTTP/1 request number, from 1.
    package typealias RequestID = UInt32

    package enum Event: Equatable, Sendable {
        case requested(RequestID, HTTPServerRequestHead)
        /// Request content or tunnel bytes. Never empty.
        case content(RequestID, ArraySlice<UInt8>)
        /// The content ended, with the trailer fields. Not reported for a request without content. After an upgrade,
        /// the client's half-close.
        case finished(RequestID, trailers: FieldSection)
        /// The content exceeds the limit. Its rest is not reported.
        case refusedContent(RequestID)
        /// The client half-closed the connection while a response is awaited. It may have disconnected.
        case clientEnded(RequestID)
        /// The last event for a request. The request is incomplete if the client, the program or the end of the
        /// connection interrupted it.
        case closed(RequestID, isComplete: Bool)
        /// The last event. Close the transport after the remaining output has been sent.
        case ended(isInterrupted: Bool)
    }

    let limits: HTTPServerLimits
    let isSecure: Bool
    /// The client's first bytes, while they can still become the HTTP/2 preface.
    var undecided: [UInt8] = []
    /// The state for the connection's HTTP version; at most one of ``http1`` and ``http2`` is set. They are not enum
    /// cases, because each change of a case would copy its value out and in: 15 % of a small request's time
    /// (`Benchmarks/server-ratios`).
    var http1: HTTP1Serving?
    var http2: HTTP2Serving?
    var events: Deque<Event> = []
    var times: HTTPServerTimes
    var requestCount = 0
    package internal(set) var hasEnded = false
    var isShuttingDown = false
    /// Whether the transport has bytes which the client has not accepted.
    var isSending = false

    package init(_ limits: HTTPServerLimits, isSecure: Bool, at now: Duration) {
        self.limits = limits
        self.isSecure = isSecure
        times = HTTPServerTimes(limits, at: now)
    }

    /// Whether the owner should read more bytes.
    package var wantsInput: Bool {
        guard !hasEnded else { return false }
        if let wantsInput = http1?.wantsInput { return wantsInput }
        if let count = http2?.machine.controlByteCount { return count < 64 << 10 }
        return true
    }

    /// Whether the connection uses HTTP/2.
    package var isHTTP2: Bool { http2 != nil }

    /// Returns the number of response bytes that wait for ``nextOutput(atMost:)``. For HTTP/1, counts all bytes of the
    /// connection.
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

    /// Records the client's half-close. Take events and output afterwards.
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

    /// Removes and returns the next bytes to send. `limit` applies to HTTP/2; HTTP/1 returns all its output.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        if let count = http1?.outputCount { return count > 0 ? http1?.takeOutput() : nil }
        let output = http2?.nextOutput(atMost: limit)
        http2?.closeFinished()
        return output
    }

    /// Ends the connection at once. Requests in progress are interrupted.
    package mutating func abort() {
        if isUndecided { return end(isInterrupted: true) }
        http1?.machine.abort()
        abortHTTP2()
        if http1?.isTunnel == true { endHTTP1(isInterrupted: true) }
    }

    /// Closes the connection after the requests in progress (RFC 9112 §9.6, RFC 9113 §6.8).
    package mutating func shutDown(at now: Duration) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        if isUndecided { return end(isInterrupted: false) }
        http1?.machine.finish()
        http2?.machine.shutDown(at: now)
    }

    /// Whether the HTTP version is still unknown.
    var isUndecided: Bool { http1 == nil && http2 == nil }

    /// Compares the client's first bytes with the HTTP/2 preface.
    private mutating func decide(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        let preface = HTTP2Connection.preface
        // Bytes are copied only if they begin with "P", as the preface does. Most HTTP/1 requests, such as GET, do not.
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

    /// Reports the end of the connection, once.
    mutating func end(isInterrupted: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        events.append(.ended(isInterrupted: isInterrupted))
    }

    // MARK: Access without a copy

    mutating func modifyHTTP1(_ body: (inout HTTP1Serving) -> Void) { if http1 != nil { body(&http1!) } }

    mutating func modifyHTTP2(_ body: (inout HTTP2Serving) -> Void) { if http2 != nil { body(&http2!) } }
}

/// A request head in any HTTP version.
package struct HTTPServerRequestHead: Equatable, Sendable {
    package var method: String
    /// The path and query as sent; `*` for some OPTIONS requests; the authority for CONNECT.
    package var target: String
    /// The requested host and port; `nil` if the client sent none.
    package var authority: String?
    package var version: HTTPVersion
    /// The protocol in an extended HTTP/2 CONNECT request (RFC 8441 §4).
    package var protocolName: String?
    package var fields: FieldSection
    /// The announced content length in bytes; `nil` if it is unknown.
    package var contentLength: Int?
    /// Whether content or trailer fields follow.
    package var hasContent: Bool
}

/// How a response frames its content.
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
