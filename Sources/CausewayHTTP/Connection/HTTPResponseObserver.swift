package import CausewayTypes
package import CausewayWire
package import FoundationEssentials

/// Receives one request's events.
///
/// The events arrive in order, one at a time, on the connection's event loop or on the thread that ended the request.
/// No lock is held during a call. An implementation must return quickly, because the loop's other requests wait
/// meanwhile.
package protocol HTTPResponseObserver: AnyObject, Sendable {
    /// Reports that there is no usable path yet. The request waits for one.
    func waits(_ reason: NWError)
    /// Reports an interim response (RFC 9110 §15.2).
    func informed(_ head: HTTPResponseHead)
    /// Reports the number of content bytes passed to the transport since the previous report. The number is negative if
    /// the content is sent again on another connection.
    func sent(_ count: Int)
    /// Reports the final response head.
    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation)
    /// Reports the next chunk of content, which is not empty.
    func received(_ content: Data)
    /// Reports a whole response that arrived in one piece without trailer fields. No other response event comes before or after it.
    ///
    /// The default implementation reports the head, the content and the end.
    func completed(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ content: Data?)
    /// Reports that the server switched the protocol (status 101), and hands over the connection. No other event follows. Called only for
    /// requests with ``HTTPRequestValue/isUpgrade``.
    func upgraded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream)
    /// Reports the result of ``HTTPRequestHandle/handOver()``.
    ///
    /// If the connection cannot be handed over, `stream` is `nil`, and the request continues. The reason is that the
    /// request is not completely sent, or that the response content does not extend to the end of the connection. If
    /// `stream` is not `nil`, no other event follows.
    func handedOver(_ stream: HTTPUpgradedStream?)
    /// Reports the end of the request, with the response's trailer fields. Called exactly once, unless the protocol was
    /// switched, the connection was handed over, or ``completed(_:_:_:)`` was called.
    func ended(_ result: Result<FieldSection, HTTPFailure>)
}

extension HTTPResponseObserver {
    package func waits(_ reason: NWError) {}
    package func informed(_ head: HTTPResponseHead) {}
    package func sent(_ count: Int) {}
    package func handedOver(_ stream: HTTPUpgradedStream?) {}
    package func completed(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ content: Data?
    ) {
        responded(head, connection)
        if let content { received(content) }
        ended(.success(FieldSection()))
    }
    /// Default implementation: does not retain the stream, so the connection closes.
    package func upgraded(
        _ head: HTTPResponseHead, _ connection: HTTPConnectionInformation, _ stream: HTTPUpgradedStream
    ) {}
}
