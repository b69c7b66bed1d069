public import CausewayURLLoading
public import Foundation

/// A request for an ``HTTPClient``.
///
/// The client's methods, such as `get` and `post`, make their requests. A program needs this type for other methods, and for settings of a
/// single request.
public struct ClientRequest: Sendable {
    /// A request's target.
    enum Target: Sendable {
        case path(RequestPath)
        case url(URL)
    }

    /// Settings that override the client's.
    struct Rules: Sendable {
        var isIdempotent: Bool?
        var retryPolicy: RetryPolicy?
        var coalesces: Bool?
        var timeout: Duration?
        var expectedByteCount: Int64?
        var cachePolicy: URLRequest.CachePolicy?
        var place = Place()
        /// Whether the offline queue sends the request. The queue decides about repetitions.
        var isQueued = false

        /// Whether the request overrides none of the client's settings.
        var isEmpty: Bool {
            isIdempotent == nil && retryPolicy == nil && coalesces == nil && timeout == nil && expectedByteCount == nil
                && cachePolicy == nil && place.isClient && !isQueued
        }
    }

    /// The host, port and TLS use of a request's server. A `nil` value means that the client's own value applies.
    struct Place: Hashable, Sendable {
        var host: String?
        var port: Int?
        var usesTLS: Bool?

        /// Whether the request goes to the server of the client, and not to another server.
        var isClient: Bool { host == nil && port == nil && usesTLS == nil }
    }

    /// The method, such as `GET`.
    public var method: String
    let target: Target
    /// Parameters to append to the query.
    public var query: RequestParameters
    /// Header fields. They replace the client's fields with the same names. Names are case-insensitive.
    public var headers: [String: String] = [:]
    /// The content.
    public var body = RequestBody.none
    var rules = Rules()

    /// Creates a request for a path below the client's base URL.
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

    /// Creates a request for a URL found in a response, such as a link to the next page. It must have the scheme, host and port of the
    /// client's base URL, because the client adds its headers and tokens; otherwise the request fails with
    /// ``HTTPClientError/Code/foreignOrigin``.
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

    /// The policy that decides when this request is repeated after a failure; `nil` for the client's policy.
    public var retryPolicy: RetryPolicy? {
        get { rules.retryPolicy }
        set { rules.retryPolicy = newValue }
    }

    /// Whether the request may share the response to an equal request in flight; `nil` for the client's setting. Only
    /// GET and HEAD requests without content can share a response.
    public var coalesces: Bool? {
        get { rules.coalesces }
        set { rules.coalesces = newValue }
    }

    /// The time without progress after which an attempt fails; `nil` for the session's setting.
    public var timeout: Duration? {
        get { rules.timeout }
        set { rules.timeout = newValue }
    }

    /// The expected response size in bytes, for the ``MeteredPolicy``; `nil` if it is not known. The client determines
    /// the size of sent content itself.
    public var expectedByteCount: Int64? {
        get { rules.expectedByteCount }
        set { rules.expectedByteCount = newValue }
    }

    /// How the request uses the cache; `nil` for the session's setting. `.reloadIgnoringLocalCacheData` forces a reload.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { rules.cachePolicy }
        set { rules.cachePolicy = newValue }
    }

    /// The host that receives the request; `nil` for the client's host. A different host also receives the client's
    /// header fields and tokens.
    public var host: String? {
        get { rules.place.host }
        set { rules.place.host = newValue }
    }

    /// The port to send the request to; `nil` for the client's port, or for the default port if ``host`` is set.
    public var port: Int? {
        get { rules.place.port }
        set { rules.place.port = newValue }
    }

    /// Whether the request is sent over TLS; `nil` for the client's setting. A port stated in the client's base URL is
    /// kept, unless ``host`` is set.
    public var usesTLS: Bool? {
        get { rules.place.usesTLS }
        set { rules.place.usesTLS = newValue }
    }

    /// Whether the method is safe (RFC 9110 §9.2.1).
    var isSafe: Bool { method == "GET" || ["HEAD", "OPTIONS", "TRACE"].contains(method) }

    private static func isIdempotent(_ method: String) -> Bool {
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }
}
