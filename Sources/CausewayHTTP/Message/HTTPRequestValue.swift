package import CausewayHTTPProtocols
package import CausewayProtocols
package import CausewayWire

/// A request without its content.
package struct HTTPRequestValue: Sendable {
    /// The method, which is case-sensitive (RFC 9110 §9.1).
    package var method: String
    /// The server to connect to.
    package var origin: HTTPOrigin
    /// The request target as it is sent (RFC 9112 §3.2).
    package var target: String
    /// The request fields. The engine adds `Host` if it is missing. If the content length is known, the engine also
    /// adds `Content-Length` if it is missing. For content of unknown length, it adds `Transfer-Encoding` over
    /// HTTP/1.1.
    package var fields: FieldSection
    /// Whether the request asks the server to switch the protocol (RFC 9110 §7.8). The fields then contain `Upgrade` and `Connection`, and
    /// the request uses HTTP/1.1. If the server accepts, ``HTTPResponseObserver/upgraded(_:_:_:)`` hands over the connection.
    package var isUpgrade = false
    /// The connections that may carry this request. They are restricted if the request repeats an earlier request.
    package var route = RetryDecision.Route.any
    /// The credential that restricts the connections: the request must use connections that were authenticated with it.
    /// `nil` if the request uses connections without such authentication.
    package var binding: ConnectionBinding?
    /// The initial priority from 0 to 1. It decides the request's place among the requests that wait for a connection,
    /// and its urgency over HTTP/2 (RFC 9218 §4.1). ``HTTPRequestHandle/setPriority(_:)`` changes it.
    package var priority: Float = 0.5
    /// Whether the request waits while there is no usable path. Otherwise it fails at once.
    package var waitsForPath = false
    /// The maximum time from the request's start to the response's end; `nil` for no limit.
    package var deadline: Duration?
    /// The maximum time without progress; `nil` for no limit. The time while the reader's buffer is full does not count.
    package var idleTimeout: Duration? = .seconds(60)

    package init(
        method: String = "GET", origin: HTTPOrigin, target: String = "/", fields: FieldSection = FieldSection()
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        self.fields = fields
    }

    /// Creates a request for an absolute URI. The user information and the fragment are not sent (RFC 9110 §4.2.4).
    ///
    /// - Returns: `nil` unless the scheme is `http` or `https` and the host and the port are valid.
    package init?(method: String = "GET", uri text: String, fields: FieldSection = FieldSection()) {
        guard let uri = URIReference(text), let origin = HTTPOrigin(uri) else { return nil }
        self.init(method: method, origin: origin, target: uri.originForm, fields: fields)
    }

    /// Whether only HTTP/1.1 can carry the request.
    var needsHTTP1: Bool { isUpgrade || binding != nil }

    /// The `Host` value (RFC 9110 §7.2). It contains neither the zone of an IPv6 address (RFC 6874 §4) nor a default port.
    package var hostField: String {
        var host = origin.host
        if host.hasPrefix("["), let zone = host.firstIndex(of: "%") { host = host[..<zone] + "]" }
        return origin.port == (origin.isSecure ? 443 : 80) ? host : "\(host):\(origin.port)"
    }

    /// The request head for HTTP/1.1. `Host` comes first, so that servers can route by it early (RFC 9110 §7.2).
    package var head: HTTPRequestHead {
        var head = HTTPRequestHead(method: method, target: target, fields: fields)
        if !fields.contains("Host") { head.fields.prepend("Host", hostField) }
        // `Proxy-Authorization` is for proxies only, so the server must not see it (RFC 9110 §11.7.2).
        if fields.contains("Proxy-Authorization") { head.fields.removeAll("Proxy-Authorization") }
        return head
    }
}
