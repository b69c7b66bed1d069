package import CausewayProtocols
package import CausewayTypes

/// The reason why a request failed.
package enum HTTPFailure: Error, Sendable {
    /// No connection could be established.
    case cannotConnect(NWError)
    /// The connection ended before the response was complete: after `received` bytes of content. `expected` is `nil` if the server did not
    /// state a length. The error of the transport is `nil` if the server closed the connection.
    case connectionLost(received: Int, expected: Int?, NWError?)
    /// The server closed the connection without a response.
    case noResponse(NWError?)
    /// The server sent a message that is not valid HTTP.
    case invalidResponse(HTTP1Failure)
    /// The request cannot be sent as it is.
    case invalidRequest(HTTP1Failure)
    /// The response was not complete at the deadline of the request.
    case deadlineExceeded
    /// There was no progress for the idle timeout.
    case timedOut
    /// The task was cancelled, or the reader of the response was released.
    case cancelled
    /// The source of the request's content failed.
    case contentFailed(any Error)
    /// The body is longer than the reader permits.
    case tooLarge(limit: Int)
    /// The engine was shut down.
    case closed

    /// Translates the failure of a connection.
    init(_ failure: HTTP1Failure?, _ transport: NWError?) {
        switch failure {
        case nil, .endedWithoutResponse: self = .noResponse(transport)
        case .endedEarly(let received, let expected):
            self = .connectionLost(received: received, expected: expected, transport)
        case .aborted: self = .cancelled
        case .unwritable(let error): self = .invalidRequest(.unwritable(error))
        case .misuse(let text): self = .invalidRequest(.misuse(text))
        case .some(let failure): self = .invalidResponse(failure)
        }
    }
}
