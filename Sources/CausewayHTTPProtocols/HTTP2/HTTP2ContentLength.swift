internal import CausewayWire

/// Compares the received content length with `content-length` (RFC 9113 §8.1.1).
struct HTTP2ContentLength: Sendable {
    /// The announced length in bytes; `nil` if there is none.
    private let expected: Int?
    /// Whether the message has no content regardless of its fields: a response to HEAD, or with status 204 or 304.
    private let isEmptyByDefinition: Bool
    private var received = 0

    init(expected: Int? = nil, isEmptyByDefinition: Bool = false) {
        self.expected = expected
        self.isEmptyByDefinition = isEmptyByDefinition
    }

    /// Returns the content length that the fields announce; `nil` if they announce none.
    static func announced(in fields: FieldSection) throws(HTTP2MalformedMessage) -> Int? {
        switch fields.contentLength {
        case .success(let length): length
        case .failure: throw HTTP2MalformedMessage("field content-length")
        case nil: nil
        }
    }

    /// Counts received content. Returns `false` if the content is now longer than the announced length.
    mutating func receive(_ count: Int) -> Bool {
        received += count
        if isEmptyByDefinition { return received == 0 }
        return received <= expected ?? .max
    }

    /// Throws an error if the received content is shorter than announced.
    func checkEnd() throws(HTTP2MalformedMessage) {
        guard permitsEnd else { throw HTTP2MalformedMessage("content shorter than announced") }
    }

    /// Whether the content may end now. If the message announced a length, the received content must have exactly this
    /// length.
    var permitsEnd: Bool { isEmptyByDefinition || expected == nil || expected == received }
}
