internal import CausewayHTTPProtocols
internal import CausewayWire
internal import DequeModule
internal import FoundationEssentials

/// A connection's state for one exchange.
struct HTTP2ExchangeStream {
    /// The end of the response. The reader receives it after the content in ``held``.
    enum End {
        case finished(FieldSection)
        case interrupted(RetryOccasion, HTTPFailure)
        case failed(HTTPFailure)

        /// Whether the response is complete and has no trailer fields.
        var isWithoutTrailers: Bool {
            if case .finished(let trailers) = self { trailers.isEmpty } else { false }
        }
    }

    /// Small chunks are joined in one element of ``held``, up to this length in bytes.
    private static let gatheredLength = 16 << 10

    let exchange: HTTPExchange
    /// Received content that waits for space in the reader's buffer. The peer gets no flow-control credit for waiting
    /// content.
    private(set) var held = Deque<Data>()
    private(set) var heldCount = 0
    var end: End?
    /// Whether the head of the final response has arrived. Interim responses do not count.
    var hasResponse = false
    var informationalCount = 0
    /// The number of received content bytes.
    private(set) var receivedCount = 0
    /// The announced content length; `nil` if the server announced none.
    var expectedCount: Int?
    /// The request content; `nil` after all of it was passed to the transport.
    var upload: HTTP2Upload?

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// The result of ``accept(_:)``.
    enum Acceptance {
        /// The exchange's buffer has space for the content, and this space is now reserved.
        case reserved(HTTPExchange)
        case held
    }

    /// Counts received content. If the reader's buffer is full, stores the content until there is space.
    mutating func accept(_ content: ArraySlice<UInt8>) -> Acceptance {
        receivedCount += content.count
        guard heldCount == 0, exchange.room() > 0 else {
            hold(content)
            return .held
        }
        exchange.reserve(content.count)
        return .reserved(exchange)
    }

    private mutating func hold(_ content: ArraySlice<UInt8>) {
        heldCount += content.count
        // Append a small chunk to the last buffer, so that the peer cannot cause one allocation per byte.
        if let last = held.last, last.count + content.count <= Self.gatheredLength {
            held[held.count - 1].append(contentsOf: content)
        } else {
            held.append(Data(content))
        }
    }

    /// Removes and returns the first chunk of held content.
    mutating func popHeld() -> Data? {
        guard let piece = held.popFirst() else { return nil }
        heldCount -= piece.count
        return piece
    }

    /// Removes all content that is held back. Returns its length in bytes.
    mutating func dropHeld() -> Int {
        defer { (held, heldCount) = ([], 0) }
        return heldCount
    }
}

/// The content of one request, and how far it was sent.
struct HTTP2Upload {
    /// Produces the content; `nil` after its end.
    var source: (any HTTPBodySource)?
    var isPulling = false
    /// The time at which the held content is sent even without status 100 (RFC 9110 §10.1.1). It is `nil` if the
    /// content is not held back.
    var holdDeadline: Duration?
    /// The number of this request's content bytes that the HTTP/2 state machine still holds. This count is updated when
    /// the machine reports sent content, and when more bytes are added.
    var queuedCount = 0
    /// The number of content bytes that the source has not supplied yet; `nil` if the content length is not stated.
    var missingCount: Int?

    init(_ source: (any HTTPBodySource)?, length: Int?) {
        self.source = source
        missingCount = length
    }

    /// Whether the next chunk of content may now be requested from the source.
    var isReady: Bool { source != nil && !isPulling && holdDeadline == nil }

    /// Counts a chunk from the content source. Returns `false` if the content is now longer than the stated length.
    mutating func add(_ count: Int) -> Bool {
        queuedCount += count
        guard let missing = missingCount else { return true }
        missingCount = missing - count
        return count <= missing
    }
}
