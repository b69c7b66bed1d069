internal import Foundation

/// A request as storable values, without the client's settings, tokens and header fields.
package struct FrozenRequest: Sendable {
    package var method: String
    /// The encoded path and query below the base URL, or an absolute URL.
    package var target: String
    /// Whether ``target`` is an absolute URL.
    package var isAbsolute: Bool
    package var host: String?
    package var port: Int?
    package var usesTLS: Bool?
    package var headers: [String: String]
    package var isIdempotent: Bool

    package init(method: String, target: String, isAbsolute: Bool, headers: [String: String], isIdempotent: Bool) {
        self.method = method
        self.target = target
        self.isAbsolute = isAbsolute
        self.headers = headers
        self.isIdempotent = isIdempotent
    }
}

extension HTTPClient {
    /// Converts a request to storable values.
    ///
    /// - Throws: ``HTTPClientError`` if the request cannot be sent.
    package func frozen(_ request: ClientRequest) throws(HTTPClientError) -> FrozenRequest {
        // Checks the request.
        _ = try prepare(request, accept: nil)
        let added = request.query.isEmpty ? nil : request.query.query
        var (target, isAbsolute) = ("", false)
        switch request.target {
        case .path(let path):
            let query = [path.query, added].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "&")
            target = query.isEmpty ? path.path : path.path + "?" + query
        case .url(let url):
            target = try base.moved(to: request.rules.place).url(of: request.target, query: request.query)
                .absoluteString
            _ = url
            isAbsolute = true
        }
        var headers = request.headers
        let hasType = headers.keys.contains { $0.lowercased() == "content-type" }
        if let type = request.body.contentType, !hasType { headers["Content-Type"] = type }
        var frozen = FrozenRequest(
            method: request.method, target: target, isAbsolute: isAbsolute, headers: headers,
            isIdempotent: request.isIdempotent)
        (frozen.host, frozen.port, frozen.usesTLS) = (request.host, request.port, request.usesTLS)
        return frozen
    }

    /// Creates a request from stored values. It is repeated only if an interceptor returns ``RetryAdvice/resend``. If
    /// the call is cancelled after a response with a status below 400 has arrived, the call returns this response.
    package static func thawed(_ frozen: FrozenRequest, _ body: RequestBody) -> ClientRequest? {
        var request: ClientRequest
        if frozen.isAbsolute {
            guard let url = URL(string: frozen.target) else { return nil }
            request = ClientRequest(frozen.method, url: url)
        } else {
            request = ClientRequest(frozen.method, RequestPath(stringLiteral: frozen.target))
        }
        request.headers = frozen.headers
        request.body = body
        request.isIdempotent = frozen.isIdempotent
        request.retryPolicy = .never
        request.rules.isQueued = true
        (request.host, request.port, request.usesTLS) = (frozen.host, frozen.port, frozen.usesTLS)
        return request
    }
}
