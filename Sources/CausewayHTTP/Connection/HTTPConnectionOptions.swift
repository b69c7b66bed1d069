internal import CausewayHTTPProtocols
internal import CausewayProtocols

/// Limits and timeouts for connections.
struct HTTPConnectionOptions: Sendable {
    var http1 = HTTP1Client.Configuration()
    var http2 = HTTP2Configuration()
    /// The time without received bytes after which an HTTP/2 connection must be tested. After this time, the
    /// connection's next request also sends a ping.
    var pingDelay: Duration = .seconds(10)
    /// The time within which any byte must arrive after a ping.
    var pingTimeout: Duration = .seconds(10)

    /// Whether a connection's first request may be sent as early data (RFC 8446 §2.3).
    var usesEarlyData = false

    /// The maximum size of a field section that an HTTP/2 server may send.
    var fieldLimit: Int { http2.settings.maxHeaderListSize ?? 0 }
}
