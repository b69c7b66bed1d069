internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// A load's current exchange with the server: one request and its response.
struct LoadExchange: Sendable {
    /// Values that the load no longer needs after an exchange or a part of an exchange. The caller releases them while
    /// it holds no lock.
    struct End: Sendable {
        /// The request to cancel; `nil` if the exchange has ended.
        var handle: HTTPRequestHandle?
        /// The secure origin whose connections must stop passing challenges to this load; `nil` if there is none.
        var secureOrigin: HTTPOrigin?
    }

    /// The engine's handle for controlling the request.
    ///
    /// The handle is set before the first event arrives. It becomes `nil` when the response can no longer be stopped.
    private(set) var handle: HTTPRequestHandle?
    /// The engine that runs the exchange.
    ///
    /// The session may replace its engines during the exchange. This reference then keeps the old engine's connections
    /// open.
    private var engine: HTTPEngine?
    private(set) var body: (any HTTPBodySource)?
    private(set) var origin = HTTPOrigin(isSecure: false, host: "")
    private(set) var response: HTTPURLResponse?
    /// Whether the connection was used for an earlier request. The value belongs to the response that is held back.
    private(set) var isReused = false
    /// The time at which the exchange began to use a proxy; `nil` for other exchanges.
    ///
    /// Earlier refusals by the proxy do not concern this exchange.
    private(set) var proxyStart: Duration?
    /// Why the exchange failed, or why it was ended early.
    private(set) var failure: HTTPFailure?
    /// The random key that the client sends in the WebSocket handshake.
    private(set) var upgradeKey = ""

    /// Creates the exchange of a load that has sent no request.
    init() {}

    init(_ value: HTTPRequestValue, _ body: HTTPRequestBody, _ engine: HTTPEngine, proxyStart: Duration?) {
        self.engine = engine
        self.proxyStart = proxyStart
        origin = value.origin
        if case .stream(let source, _) = body { self.body = source }
        if value.isUpgrade { upgradeKey = value.fields.firstValue(of: "Sec-WebSocket-Key") ?? "" }
    }

    /// The origin if the connection is secure; otherwise `nil`.
    var secureOrigin: HTTPOrigin? { origin.isSecure ? origin : nil }

    // MARK: Events

    mutating func started(_ handle: HTTPRequestHandle) { self.handle = handle }

    mutating func responded(_ response: HTTPURLResponse) { self.response = response }

    /// Records that the response is held back, and whether its connection had carried an earlier request.
    mutating func held(isReused: Bool) { self.isReused = isReused }

    /// Records the reason why the exchange will be ended early.
    mutating func refused(_ reason: HTTPFailure) { failure = reason }

    /// Records that the exchange has ended.
    ///
    /// - Parameter reason: The failure; `nil` if the response is complete. If a failure is already recorded, that
    ///   earlier failure stays.
    mutating func over(_ reason: HTTPFailure? = nil) {
        handle = nil
        if failure == nil { failure = reason }
    }

    /// Removes and returns the request's handle, so that the caller can cancel the request.
    mutating func takeHandle() -> HTTPRequestHandle? { handle.take() }

    /// Ends the exchange. Returns only the values that must be released. A copy of the whole exchange would cost more
    /// than most of the load's other work.
    mutating func end() -> End {
        let end = End(handle: handle.take(), secureOrigin: secureOrigin)
        engine = nil
        body = nil
        response = nil
        return end
    }
}
