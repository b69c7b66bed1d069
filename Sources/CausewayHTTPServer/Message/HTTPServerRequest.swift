internal import CausewayHTTPProtocols
public import CausewayTypes
public import FoundationEssentials

/// A request from a client, or one that a test has made.
public struct HTTPServerRequest: Sendable {
    /// The method, which is case-sensitive (RFC 9110 §9.1).
    public var method: String { head.method }
    /// The path, percent-encoded as the client sent it. `*` for some OPTIONS requests.
    public let path: String
    /// The query without its question mark, percent-encoded; `nil` if there is none.
    public let query: String?
    /// The header fields.
    public var fields: HTTPServerFields { HTTPServerFields(head.fields) }
    /// The values of the route's path parameters, without percent-encoding. A test of a handler without routes sets
    /// them.
    public var parameters = HTTPServer.Parameters()
    /// The content. Only one task at a time may read it.
    public var body: HTTPServerRequestBody { HTTPServerRequestBody(origin: origin, length: head.contentLength) }

    let head: HTTPServerRequestHead
    let origin: RequestOrigin

    init(_ exchange: ServerExchange) { self.init(exchange.head, .client(exchange)) }

    init(_ head: HTTPServerRequestHead, _ origin: RequestOrigin) {
        self.origin = origin
        self.head = head
        let target = head.target
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            path = target
            query = nil
            return
        }
        path = String(target[..<mark])
        query = String(target[target.utf8.index(after: mark)...])
    }

    /// The host, with the port if the client named one; `nil` for an HTTP/1.0 client that named none.
    public var authority: String? { head.authority }
    /// The HTTP version, such as `HTTP/1.1` or `HTTP/2`.
    public var version: String {
        head.version >= .http2 ? "HTTP/\(head.version.major)" : "HTTP/\(head.version.major).\(head.version.minor)"
    }
    /// Whether the connection uses TLS.
    public var isSecure: Bool { origin.isSecure }
    /// The client's address.
    public var remoteEndpoint: NWEndpoint { origin.remoteEndpoint }

    /// The names and values of the query, decoded from `application/x-www-form-urlencoded`, in order.
    public var queryItems: [(name: String, value: String)] { FormItems.decoded(query ?? "") }

    /// Sends an interim response, such as status 103 (RFC 8297). Has no effect for HTTP/1.0 clients.
    ///
    /// - Throws: ``HTTPServerError`` with the code `clientGone`, or `invalidMessage` for a status that is not interim.
    public func inform(_ status: Int, _ fields: HTTPServerFields = HTTPServerFields()) throws(HTTPServerError) {
        try origin.inform(status, fields.section)
    }
}

/// A request's content as a sequence of chunks.
///
/// The server keeps at most 256 KiB of content that the program has not read. When this limit is reached, the server
/// accepts no more content, so the client stops sending.
public struct HTTPServerRequestBody: AsyncSequence, Sendable {
    /// A chunk of content.
    public typealias Element = Data

    let origin: RequestOrigin
    /// The content length stated by the client; `nil` if it stated none.
    public let length: Int?

    /// Reads the content in chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let origin: RequestOrigin

        /// Returns the next chunk; `nil` at the end of the content.
        ///
        /// Cancellation: throws `CancellationError`. No content is lost.
        nonisolated(nonsending) public mutating func next() async throws -> Data? { try await origin.read() }

        /// Returns the next chunk like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
            try await origin.read()
        }
    }

    /// Returns an iterator over the unread chunks.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(origin: origin) }

    /// Reads the rest of the content.
    ///
    /// - Throws: ``HTTPServerError`` with the code `contentTooLong` if there are more than `limit` bytes, or `clientGone`.
    public func collect(upTo limit: Int) async throws -> Data {
        var all = Data()
        for try await piece in self {
            guard piece.count <= limit - all.count else { throw HTTPServerError.contentTooLong }
            all += piece
        }
        return all
    }

    /// The trailer fields; `nil` before the end of the content.
    public var trailers: HTTPServerFields? { origin.trailers.map { HTTPServerFields($0) } }
}
