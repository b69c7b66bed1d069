/// A request on a server's HTTP/2 connection.
///
/// The request ends when the program has finished the response and the stream is closed. It also ends when the stream
/// fails.
struct HTTP2ServedRequest: Sendable {
    private enum Response: Sendable {
        case open
        /// The response has no content, so its head has ended the server's side of the stream. The program has not
        /// finished the response yet.
        case withoutContent
        /// The response head was the server's last frame on the stream, and the stream is closed. The request stays
        /// open until the program finishes the response.
        case sent
        /// The response is complete. Further request content is discarded.
        case done
    }

    /// What the client waits for before it sends content.
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
    /// Whether the response was sent before the program finished it, because the response has no content. Its stream is
    /// already closed.
    var wasSentEarly: Bool { response == .sent }
    /// Whether response content is discarded, because the response cannot have content.
    var discardsResponse: Bool { response == .withoutContent || response == .sent }
    /// Whether the server waits for request content. This is so if the client may send content and the program has
    /// consumed all received content. Always `false` for a tunnel, because a tunnel without traffic is no error.
    var awaitsContent: Bool {
        !hasRequestEnded && !discards && method != .tunnel && unread == 0 && awaited == .nothing
    }

    // MARK: The request

    /// Counts content that has arrived. Returns the bytes to deliver, and whether the content exceeds the limit with
    /// this call for the first time.
    ///
    /// For a request, the program receives at most `limit` content bytes. For a tunnel, it receives all bytes.
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

    /// Records that the program reads the request content. Returns `true` if the client waits for status 100. Later
    /// calls return `false`.
    ///
    /// From now on, the timeout for slow clients (``HTTPServerLimits/stallTime``) applies. It also applies before the
    /// response to CONNECT. Otherwise, the program could wait for content while the client waits for the response.
    mutating func requestedContent() -> Bool {
        defer { awaited = .nothing }
        return awaited == .status100
    }

    /// Records that the program has consumed `count` bytes of content. Returns the number that counts as consumed,
    /// which is at most ``unread``.
    mutating func took(_ count: Int) -> Int {
        let consumed = min(count, unread)
        unread -= consumed
        return consumed
    }

    /// Records that the request has ended. Returns whether the program must be notified of this end.
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

    /// Records that the stream has closed without an error.
    ///
    /// Returns `true` if the client has the whole response, but the program has not yet finished it. This can happen
    /// because the response has no content. Content that the program still sends is then discarded.
    mutating func closed() -> Bool {
        guard response == .withoutContent else { return false }
        response = .sent
        return true
    }

    /// Records that the program completed its response. Returns `true` if the client can still send request content.
    mutating func completed() -> Bool {
        response = .done
        return !hasRequestEnded
    }
}
