internal import CausewayWire

/// A request and its responses on the client side of an HTTP/1.1 connection (RFC 9112 §6.3, §9.3).
///
/// Decides what each response head means, and whether the connection persists after the messages so far.
struct HTTP1ClientExchange: Sendable {
    /// The meaning of a response head for the exchange.
    enum Meaning: Equatable, Sendable {
        /// An interim response. Further responses follow.
        case interim
        /// The stream now belongs to another protocol or to a tunnel.
        case upgraded
        /// The head of the final response has arrived. The response's body follows.
        case responded(HTTP1BodyLength)
    }

    private var method = HTTP1Method.other
    private var upgrades = false
    /// Whether the messages so far permit a persistent connection.
    private(set) var persists = true
    /// The hints in the final response's `Keep-Alive` field.
    private(set) var keepAlive = KeepAlive()
    private var informationalCount = 0

    /// Creates the state of a connection on which there is no request yet.
    init() {}

    init(_ request: HTTPRequestHead) {
        method = HTTP1Method(request.method)
        upgrades = request.fields.contains("Upgrade")
        persists = HTTP1Persistence.isPermitted(version: request.version, fields: request.fields)
    }

    /// Whether no response has arrived, not even an interim response.
    var isUnanswered: Bool { informationalCount == 0 }

    /// Interprets the next response head.
    ///
    /// - Parameter limit: The maximum number of interim responses.
    /// - Throws: ``HTTP1Failure``. The connection must then be ended.
    mutating func received(
        _ response: HTTPResponseHead, informationalLimit limit: Int
    ) throws(HTTP1Failure) -> Meaning {
        if response.isInformational { return try receivedInformational(response.status, limit: limit) }
        // A response to CONNECT with status 2xx has no body. Ignore its `Content-Length` and `Transfer-Encoding` fields
        // (RFC 9110 §9.3.6).
        if method == .connect, response.status < 300 { return .upgraded }
        let length = try bodyLength(of: response)
        let isPermitted = HTTP1Persistence.isPermitted(version: response.version, fields: response.fields)
        persists = persists && isPermitted && length != .untilEnd
        keepAlive = KeepAlive(response.fields)
        return .responded(length)
    }

    private mutating func receivedInformational(_ status: Int, limit: Int) throws(HTTP1Failure) -> Meaning {
        if status == 101 {
            guard upgrades else { throw .unexpectedUpgrade }
            return .upgraded
        }
        informationalCount += 1
        guard informationalCount <= limit else { throw .tooManyInformationalResponses(limit: limit) }
        return .interim
    }

    private mutating func bodyLength(of response: HTTPResponseHead) throws(HTTP1Failure) -> HTTP1BodyLength {
        guard HTTP1BodyLength.hasBody(status: response.status, toHead: method == .head) else {
            // This response must have no body. Its fields may contradict each other, or they may announce a body
            // although the status is 204. The server might then send a body that is not permitted. The next exchange
            // could mistake this body for a response, so do not reuse the connection.
            let stated = try? HTTP1BodyLength.ofResponse(response)
            if stated == nil || response.status == 204 && stated != .untilEnd { persists = false }
            return .none
        }
        let length = try HTTP1BodyLength.ofResponse(response)
        // HTTP/1.0 has no transfer codings. But an HTTP/1.0 intermediary may have forwarded this chunked response
        // without decoding it. The end of the body is then uncertain (RFC 9112 §6.1), so the connection must not be
        // reused.
        if length == .chunked, response.version < .http11 { persists = false }
        return length
    }
}
