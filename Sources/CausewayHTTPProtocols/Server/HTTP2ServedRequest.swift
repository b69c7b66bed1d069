/// A request on a server's HTTP/2 connection. The request closes when the program has completed the response and the
/// stream has closed, or when the stream fails.
struct HTTP2ServedRequest: Sendable {
    private enum Response: Sendable {
        case open
        /// The response has no content, so its head has ended the server's side of the stream. The program has not yet
        /// finished the response.
        case withoutContent
        /// The response head has ended the server's side of the stream, and the stream is closed. The request is closed
        /// when the program has finished the response.
        case sent
        /// The response is complete. Further request content is discarded.
        case done
    }

    /// The event that the client awaits before it sends content.
    private enum Awaited: Sendable {
        case nothing
        /// Status 100 (RFC 9110 §10.1.1).
        case status100
        /// The response to CONNECT. A successful response begins a tunnel.
        case response
    }

    /// Content bytes delivered to the program and not yet consumed by it.
    private(set) var unread = 0
    private var received = 0
    private var hasRequestEnded = false
    /// Whether response content is blocked by the client's flow-control windows.
    private(set) var hasQueuedContent = false
    /// Whether the content exceeds the maximum content length. The content beyond that length is discarded.
    private var isTooLong = false
    private var awaited: Awaited
    private(set) var method: HTTP2MethodKind
    private var response = Response.open

    init(_ method: HTTP2MethodKind, awaitsContinue: Bool) {
        self.method = method
        awaited = awaitsContinue ? .status100 : method == .connect ? .response : .nothing
    }

    private var discards: Bool { isTooLong || response == .done }
    /// Whether the program has completed its response.
    var isComplete: Bool { response == .done }
    /// Whether the response had no content and the stream has closed, but the program has not yet finished the
    /// response.
    var wasSentEarly: Bool { response == .sent }
    /// Whether response content is discarded, because the response can have none.
    var discardsResponse: Bool { response == .withoutContent || response == .sent }
    /// Whether the server waits for content: the client may send content, and the program has consumed all received
    /// content. Always `false` for a tunnel, because a tunnel without traffic is no error.
    var awaitsContent: Bool {
        !hasRequestEnded && !discards && method != .tunnel && unread == 0 && awaited == .nothing
    }

    // MARK: The request

    /// Accounts for content that has arrived. The program receives at most `limit` content bytes of a request, but all
    /// bytes of a tunnel. Returns the bytes to deliver to the program, and whether the content exceeds the limit with
    /// this call for the first time.
    mutating func arrived(
        _ bytes: ArraySlice<UInt8>, limit: Int
    ) -> (delivered: ArraySlice<UInt8>, isTooLong: Bool) {
        guard !discards else { return (bytes.prefix(0), false) }
        let delivered = method == .tunnel ? bytes : bytes.prefix(limit - received)
        isTooLong = delivered.count < bytes.count
        if awaited == .status100 { awaited = .nothing }
        received += delivered.count
        unread += delivered.count
        return (delivered, isTooLong)
    }

    /// Records that the program reads the content. Returns whether the client waits for status 100; later calls return
    /// `false`.
    ///
    /// From now on, the timeout for slow clients (``HTTPServerLimits/stallTime``) applies, also before the response to
    /// CONNECT. Otherwise the program could wait for content while the client waits for the response.
    mutating func requestedContent() -> Bool {
        defer { awaited = .nothing }
        return awaited == .status100
    }

    /// Records that the program has consumed content. Returns the number of consumed bytes, which is at most
    /// ``unread``.
    mutating func took(_ count: Int) -> Int {
        let consumed = min(count, unread)
        unread -= consumed
        return consumed
    }

    /// Records the end of the request. Returns whether the program is notified of it.
    mutating func ended() -> Bool {
        let isReported = !hasRequestEnded && !discards
        hasRequestEnded = true
        return isReported
    }

    // MARK: The response

    /// Records the response head.
    mutating func responded(hasContent: Bool, opensTunnel: Bool) {
        if !hasContent { response = .withoutContent }
        if opensTunnel { method = .tunnel }
    }

    /// Records that the stream now carries another protocol.
    mutating func upgraded() { method = .tunnel }

    /// Records response content that waits to be sent.
    mutating func queued() { hasQueuedContent = true }

    /// Records that all response content was sent.
    mutating func drained() { hasQueuedContent = false }

    /// Records that the stream has closed without an error. Returns `true` if the client has the whole response, which
    /// has no content, but the program has not yet finished it. Content that the program still sends is then discarded.
    mutating func closed() -> Bool {
        guard response == .withoutContent else { return false }
        response = .sent
        return true
    }

    /// Records that the program completed its response. Returns `true` if the request has not ended, so that the client
    /// can send more content.
    mutating func completed() -> Bool {
        response = .done
        return !hasRequestEnded
    }
}
