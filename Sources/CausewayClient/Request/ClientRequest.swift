public import CausewayURLLoading
public import Foundation

/// A request of an ``HTTPClient``.
///
/// The methods of the client, such as `get` and `post`, make their requests. A program needs this type for other methods, and for
/// the rules of a single request.
public struct ClientRequest: Sendable {
    /// What a request is for.
    enum Target: Sendable {
        case path(RequestPath)
        case url(URL)
    }

    /// Rules that differ from those of the client.
    struct Rules: Sendable {
        var isIdempotent: Bool?
        var retryPolicy: RetryPolicy?
        var coalesces: Bool?
        var timeout: TimeInterval?
        var expectedByteCount: Int64?
        var cachePolicy: URLRequest.CachePolicy?
        var place = Place()

        /// Whether all rules are those of the client.
        var isEmpty: Bool {
            isIdempotent == nil && retryPolicy == nil && coalesces == nil && timeout == nil && expectedByteCount == nil
                && cachePolicy == nil && place.isClient
        }
    }

    /// Another server than that of the client.
    struct Place: Hashable, Sendable {
        var host: String?
        var port: Int?
        var usesTLS: Bool?

        /// Whether this is the server of the client.
        var isClient: Bool { host == nil && port == nil && usesTLS == nil }
    }

    /// The method, such as `GET`.
    public var method: String
    let target: Target
    /// The parameters that are appended to the query.
    public var query: RequestParameters
    /// Header fields. They replace those of the client with the same names, in any case.
    public var headers: [String: String] = [:]
    /// The content.
    public var body = RequestBody.none
    var rules = Rules()

    /// Creates a request for a path below the base URL of the client.
    public init(_ method: String, _ path: RequestPath, query: RequestParameters = [:]) {
        self.method = method
        target = .path(path)
        self.query = query
    }

    init(
        _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
        _ body: RequestBody
    ) {
        self.init(method, path, query: query)
        self.headers = headers
        self.body = body
    }

    /// Creates a request for a URL that a response contained, such as a link to the next page. It must have the scheme, host and port of the client's base URL,
    /// because the client adds its headers and tokens; otherwise the request fails with ``HTTPClientError/Code/foreignOrigin``.
    public init(_ method: String, url: URL, query: RequestParameters = [:]) {
        self.method = method
        target = .url(url)
        self.query = query
    }

    /// Whether sending the request twice has the same effect as sending it once. The default follows from the method (RFC 9110 §9.2.2): true for GET, HEAD,
    /// PUT, DELETE, OPTIONS and TRACE. A request that is not idempotent is never repeated by a ``RetryPolicy``.
    public var isIdempotent: Bool {
        get { rules.isIdempotent ?? Self.isIdempotent(method) }
        set { rules.isIdempotent = newValue }
    }

    /// The policy for this request; `nil` for that of the client.
    public var retryPolicy: RetryPolicy? {
        get { rules.retryPolicy }
        set { rules.retryPolicy = newValue }
    }

    /// Whether the request may share the response of an equal request in flight; `nil` for the setting of the client. Only GET and HEAD without content can.
    public var coalesces: Bool? {
        get { rules.coalesces }
        set { rules.coalesces = newValue }
    }

    /// The seconds without progress after which an attempt fails; `nil` for the setting of the session.
    public var timeout: TimeInterval? {
        get { rules.timeout }
        set { rules.timeout = newValue }
    }

    /// The expected number of bytes of the response, for the ``MeteredPolicy``; `nil` if it is not known. The size of the content that is sent is known.
    public var expectedByteCount: Int64? {
        get { rules.expectedByteCount }
        set { rules.expectedByteCount = newValue }
    }

    /// How the request uses the cache; `nil` for the setting of the session. `.reloadIgnoringLocalCacheData` forces a reload.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { rules.cachePolicy }
        set { rules.cachePolicy = newValue }
    }

    /// The host that the request is sent to; `nil` for that of the client. The header fields and tokens of the client are sent to it as well.
    public var host: String? {
        get { rules.place.host }
        set { rules.place.host = newValue }
    }

    /// The port that the request is sent to; `nil` for that of the client, or with another host for the default port.
    public var port: Int? {
        get { rules.place.port }
        set { rules.place.port = newValue }
    }

    /// Whether the request is sent over TLS; `nil` for the setting of the client. If the port of the client is not the default port of its scheme, it stays.
    public var usesTLS: Bool? {
        get { rules.place.usesTLS }
        set { rules.place.usesTLS = newValue }
    }

    /// Whether the method reads only (RFC 9110 §9.2.1).
    var isSafe: Bool { method == "GET" || ["HEAD", "OPTIONS", "TRACE"].contains(method) }

    private static func isIdempotent(_ method: String) -> Bool {
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }
}
