internal import CausewayHTTP
internal import CausewayProtocols
internal import Foundation

/// The current exchange of a load with the server.
struct LoadExchange {
    /// The values needed to end an exchange.
    struct End {
        var handle: HTTPRequestHandle?
        /// The origin if the connection is secure; otherwise `nil`.
        var secureOrigin: HTTPOrigin?
        /// The use of connections bound to a credential. It ends with this value.
        var bound: LoadAccess.Bound?
    }

    /// The handle as long as the response can be stopped. Known before the first event.
    var handle: HTTPRequestHandle?
    var engine: HTTPEngine?
    var body: (any HTTPBodySource)?
    var origin = HTTPOrigin(isSecure: false, host: "")
    var response: HTTPURLResponse?
    /// Whether the held response's connection carried an earlier request.
    var isReused = false
    /// The time at which the exchange began; `nil` if it uses no proxy.
    var proxyStart: Duration?
    /// Why the exchange failed, or why it was ended early.
    var failure: HTTPFailure?
    /// The WebSocket handshake key.
    var upgradeKey = ""

    /// Ends the exchange. Copying all values would cost more than most of the load.
    mutating func end() -> End {
        let end = End(handle: handle.take(), secureOrigin: secureOrigin)
        engine = nil
        body = nil
        response = nil
        return end
    }

    /// The origin if the connection is secure; otherwise `nil`.
    var secureOrigin: HTTPOrigin? { origin.isSecure ? origin : nil }
}
