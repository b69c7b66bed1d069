internal import CausewayWire

/// Caches the latest request head and the latest response head on a connection.
///
/// Programs often repeat a request, and the server then repeats its response head. The cache avoids encoding or
/// decoding the same head again. A cached head is used only for an identical head. So the result is always the same as
/// without the cache.
struct HTTP1LastHeads: Sendable {
    /// The maximum size of a cached head in bytes. It is small, so that a connection needs little memory.
    static let maximumByteCount = 2048

    private struct Request: Sendable {
        var head: HTTPRequestHead
        var bytes: [UInt8]
        var facts: HTTP1ClientExchange
    }

    private var request: Request?
    private var response: HTTPResponseHead?

    // MARK: Requests

    /// Returns the cached encoding of a request head. Also returns the initial exchange state for a request without a
    /// body. Returns `nil` if the cached request has another head.
    func encoded(_ head: HTTPRequestHead) -> (bytes: [UInt8], facts: HTTP1ClientExchange)? {
        guard let request, request.head.fields.isIdentical(to: head.fields), request.head.target == head.target,
            request.head.method == head.method, request.head.version == head.version
        else { return nil }
        return (request.bytes, request.facts)
    }

    /// Caches a request without a body.
    mutating func note(_ head: HTTPRequestHead, _ bytes: [UInt8], _ facts: HTTP1ClientExchange) {
        request = bytes.count <= Self.maximumByteCount ? Request(head: head, bytes: bytes, facts: facts) : nil
    }

    // MARK: Responses

    /// Returns the cached response head, with its encoded length, if the bytes begin with the same head.
    func response(startOf bytes: borrowing Span<UInt8>) -> (HTTPResponseHead, count: Int)? {
        guard let response, let count = response.fields.decodedCount(ifStartOf: bytes) else { return nil }
        return (response, count)
    }

    /// Caches a response that was decoded from `count` bytes.
    mutating func note(_ head: HTTPResponseHead, _ count: Int) {
        response = count <= Self.maximumByteCount ? head : nil
    }
}
