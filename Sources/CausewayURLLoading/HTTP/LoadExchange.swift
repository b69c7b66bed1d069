internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The current exchange of a load with the server.
struct LoadExchange: Sendable {
    /// Values that the load no longer needs after an exchange, or after a part of an exchange. They are released while
    /// no lock is held.
    struct End: Sendable {
        /// The request to cancel; `nil` if the exchange has ended.
        var handle: HTTPRequestHandle?
        /// A secure origin whose connections pass no more challenges to the load; `nil` if there is none.
        var secureOrigin: HTTPOrigin?
    }

    /// The engine's handle for controlling the request. It is known before the first event, and `nil` when the response
    /// can no longer be stopped.
    private(set) var handle: HTTPRequestHandle?
    /// The engine that runs the exchange. This reference keeps the engine's connections open if the session replaces
    /// its engines during the exchange.
    private var engine: HTTPEngine?
    private(set) var body: (any HTTPBodySource)?
    private(set) var origin = HTTPOrigin(isSecure: false, host: "")
    private(set) var response: HTTPURLResponse?
    /// Whether the connection of the response that is held back carried an earlier request.
    private(set) var isReused = false
    /// The time at which an exchange through a proxy began; `nil` for other exchanges. Proxy refusals before this time
    /// do not concern the exchange.
    private(set) var proxyStart: Duration?
    /// Why the exchange failed, or why it was ended early.
    private(set) var failure: HTTPFailure?
    /// The WebSocket handshake key.
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

    /// Records whether the connection of a response that is held back carried an earlier request.
    mutating func held(isReused: Bool) { self.isReused = isReused }

    /// Records why the exchange is about to be ended early.
    mutating func refused(_ reason: HTTPFailure) { failure = reason }

    /// Records that the exchange has ended.
    ///
    /// - Parameter reason: The failure; `nil` if the response is complete. It does not replace an earlier failure.
    mutating func over(_ reason: HTTPFailure? = nil) {
        handle = nil
        if failure == nil { failure = reason }
    }

    /// Removes and returns the request's handle, so that the caller can cancel the request.
    mutating func takeHandle() -> HTTPRequestHandle? { handle.take() }

    /// Ends the exchange. Only the values to release are returned, because copying the whole exchange would cost more
    /// than most of the load's other work.
    mutating func end() -> End {
        let end = End(handle: handle.take(), secureOrigin: secureOrigin)
        engine = nil
        body = nil
        response = nil
        return end
    }
}
