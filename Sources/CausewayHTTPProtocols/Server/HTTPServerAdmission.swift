internal import CausewayWire

/// Decides which requests a server connection accepts. Also limits their number.
struct HTTPServerAdmission: Sendable {
    let limits: HTTPServerLimits
    /// The number of requests so far, including refused ones.
    private(set) var count = 0
    private(set) var isShuttingDown = false

    init(_ limits: HTTPServerLimits) { self.limits = limits }

    /// Records that a shutdown has started. Returns `false` if it had already started.
    mutating func shutDown() -> Bool {
        guard !isShuttingDown else { return false }
        isShuttingDown = true
        return true
    }

    /// Records a request. Returns whether it is the last one that the connection may serve.
    mutating func requested() -> Bool {
        count += 1
        return count >= limits.requestCount
    }

    /// Returns the refusal status for a request; `nil` if the server accepts it (RFC 9110 §15.5.14, §15.5.18).
    func refusal(_ head: HTTPRequestHead, _ contentLength: Int?) -> Int? {
        if head.target.utf8.count > limits.targetByteCount { return 414 }
        if let contentLength, contentLength > limits.contentByteCount { return 413 }
        if contentLength == nil, limits.requiresContentLength { return 411 }
        // RFC 9110 §10.1.1 defines no expectation except `100-continue`.
        if head.fields.contains("Expect"), !head.fields.hasElement("100-continue", in: "Expect") { return 417 }
        return nil
    }
}
