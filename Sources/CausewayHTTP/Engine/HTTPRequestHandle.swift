/// A started request. Releasing the handle does not cancel the request.
package struct HTTPRequestHandle: Sendable {
    let exchange: HTTPExchange
    let core: HTTPEngineCore

    /// Cancels the request. The observer receives ``HTTPFailure/cancelled`` unless the request has already ended.
    package func cancel() { core.end(exchange, .cancelled) }

    /// Changes the request's priority, from 0 to 1. A waiting request gets another place in the order of waiting requests. For a request on
    /// an HTTP/2 connection, the server is notified of the new urgency (RFC 9218 §7). Has no effect on a request that HTTP/1.1 carries.
    package func setPriority(_ priority: Float) { core.setPriority(priority, of: exchange) }

    /// Stops or resumes reading the response. After a stop, at most 64 KiB that were already received are still delivered.
    package func setReading(_ isReading: Bool) { exchange.setReading(isReading, at: core.now) }

    /// Requests the handover of the connection in the middle of the response. ``HTTPResponseObserver/handedOver(_:)``
    /// receives the result. Has no effect before the response head has arrived, after the request has ended, and on an
    /// HTTP/2 connection.
    package func handOver() { exchange.handOver() }

    /// Records that a reader has taken `count` bytes from its buffer.
    func took(_ count: Int) { exchange.took(count, at: core.now) }
}
