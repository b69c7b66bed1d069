internal import CausewayURLLoading
internal import Foundation

/// A request with its URL and header fields, before the interceptors are called.
///
/// Equal requests can share one response. All functions that take part in a client call use this one object, so that
/// its many values are not copied. When the request is repeated, the object is used again.
final class PreparedRequest: Hashable, Sendable {
    let urlRequest: URLRequest
    let source: RequestBody.Source
    let request: ClientRequest
    /// Whether the request may share a response: it is a GET or HEAD without content.
    let isShareable: Bool
    /// The request's hash value. It is computed only once, because a shared request is looked up several times in the
    /// table of running requests.
    private let hash: Int

    init(_ urlRequest: URLRequest, _ source: RequestBody.Source, of request: ClientRequest) {
        self.urlRequest = urlRequest
        self.source = source
        self.request = request
        isShareable = (request.method == "GET" || request.method == "HEAD") && source.isNone
        hash = isShareable ? urlRequest.hashValue : 0
    }

    static func == (one: PreparedRequest, other: PreparedRequest) -> Bool {
        one === other || (one.hash == other.hash && one.urlRequest == other.urlRequest)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A client's base URL, prepared for building request URLs.
struct BaseURL: Sendable {
    let url: URL
    /// Scheme and authority.
    private let prefix: String
    /// The encoded path without a final slash.
    private let path: String
    private let query: String?

    /// - Returns: `nil` unless the URL is absolute, with the scheme http or https and a host.
    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.percentEncodedHost, !host.isEmpty
        else { return nil }
        self.url = url
        let password = parts.percentEncodedPassword.map { ":\($0)" } ?? ""
        let user = parts.percentEncodedUser.map { "\($0)\(password)@" } ?? ""
        prefix = "\(scheme)://\(user)\(host)" + (parts.port.map { ":\($0)" } ?? "")
        var path = parts.percentEncodedPath
        while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        self.path = path
        query = parts.percentEncodedQuery
    }

    /// Returns the URL of a request target.
    ///
    /// - Throws: ``HTTPClientError`` if the target is a path with an empty value or a segment `.` or `..`, or if it is
    ///   a URL with another origin than the client's base URL.
    func url(of target: ClientRequest.Target, query added: RequestParameters) throws(HTTPClientError) -> URL {
        switch target {
        case .path(let relative):
            if let mistake = relative.mistake { throw HTTPClientError(.invalidRequest, mistake) }
            var text = prefix + path
            let rest = relative.path.utf8.first == UInt8(ascii: "/") ? relative.path.dropFirst() : relative.path[...]
            // An empty path means the base URL as it was given, with or without a final slash.
            text += rest.isEmpty ? (url.path(percentEncoded: true).hasSuffix("/") ? "/" : "") : "/" + rest
            return try Self.url(text, [query, relative.query, added.isEmpty ? nil : added.query])
        case .url(let absolute):
            guard let other = BaseURL(absolute), isSameOrigin(other) else {
                throw HTTPClientError(.foreignOrigin, "the URL belongs to another host, port or scheme than the client")
            }
            let text = prefix + absolute.path(percentEncoded: true)
            return try Self.url(text, [other.query, added.isEmpty ? nil : added.query])
        }
    }

    private func isSameOrigin(_ other: BaseURL) -> Bool {
        func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
        return url.scheme?.lowercased() == other.url.scheme?.lowercased()
            && url.host()?.lowercased() == other.url.host()?.lowercased() && port(url) == port(other.url)
    }

    /// Returns the base URL with the scheme, host and port of another server.
    ///
    /// - Throws: ``HTTPClientError`` if the host or the port is invalid.
    func moved(to place: ClientRequest.Place) throws(HTTPClientError) -> BaseURL {
        guard !place.isClient else { return self }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return self }
        if let usesTLS = place.usesTLS { parts.scheme = usesTLS ? "https" : "http" }
        if let host = place.host {
            let isPlain =
                !host.isEmpty
                && host.unicodeScalars.allSatisfy { $0.value > 0x20 && !"/?#@\\%".unicodeScalars.contains($0) }
            guard isPlain else { throw HTTPClientError(.invalidRequest, "'\(host)' is not the name of a host") }
            let isBareAddress = host.contains(":") && !host.hasPrefix("[")
            parts.percentEncodedHost = nil
            parts.host = isBareAddress ? "[\(host)]" : host
            (parts.port, parts.user, parts.password) = (nil, nil, nil)
        }
        if let port = place.port {
            guard (1...65_535).contains(port) else {
                throw HTTPClientError(.invalidRequest, "\(port) is not a port: expected 1 to 65535")
            }
            parts.port = port
        }
        guard let url = parts.url, let base = BaseURL(url) else {
            throw HTTPClientError(.invalidRequest, "the host and the port form no URL")
        }
        return base
    }

    private static func url(_ text: String, _ queries: [String?]) throws(HTTPClientError) -> URL {
        let queries = queries.compactMap(\.self).filter { !$0.isEmpty }
        guard let url = URL(string: queries.isEmpty ? text : text + "?" + queries.joined(separator: "&")) else {
            throw HTTPClientError(.invalidRequest, "the path and the query form no URL")
        }
        return url
    }
}
