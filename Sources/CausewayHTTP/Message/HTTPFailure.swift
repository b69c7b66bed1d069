package import CausewayProtocols
package import CausewayTypes
package import CausewayWire

/// Why a request failed.
package enum HTTPFailure: Error, Sendable {
    /// No connection could be established.
    case cannotConnect(NWError)
    /// The connection ended after `received` bytes of content, before the response was complete. `expected` is the announced length; `nil`
    /// if the server announced none. The transport error is `nil` if the server closed the connection.
    case connectionLost(received: Int, expected: Int?, NWError?)
    /// The server closed the connection without a response.
    case noResponse(NWError?)
    /// The server sent a message that is not valid HTTP.
    case invalidResponse(HTTP1Failure)
    /// The server violated HTTP/2.
    case violation(HTTP2Violation)
    /// The server ended the request, or the connection, with this HTTP/2 error code.
    case reset(HTTP2ErrorCode)
    /// The request cannot be sent, for example because it is not valid HTTP or its body does not have the stated length.
    case invalidRequest(HTTP1Failure)
    /// The response was not complete at the request's deadline.
    case deadlineExceeded
    /// The request made no progress during the idle timeout.
    case timedOut
    /// The program cancelled the request or the task that waits for the response, or cancelled or released the response
    /// stream.
    case cancelled
    /// The request's content source failed.
    case contentFailed(any Error)
    /// The response body is longer than the reader permits.
    case tooLarge(limit: Int)
    /// The engine was shut down.
    case closed

    /// Creates a request's failure from the HTTP/1.1 connection's failure and the transport's failure.
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

extension HTTPFailure {
    /// The reason in words, without a period.
    package var explanation: String {
        switch self {
        case .cannotConnect(let error): "no connection: \(error)"
        case .connectionLost(let received, let expected, let error):
            "the connection ended after \(received)\(expected.map { " of \($0)" } ?? "") bytes of content"
                + (error.map { ": \($0)" } ?? "")
        case .noResponse(let error):
            "the server closed the connection without a response" + (error.map { ": \($0)" } ?? "")
        case .invalidResponse(let failure): "the response is invalid: \(failure.explanation)"
        case .violation(let violation): "the server violated HTTP/2: \(violation.reason) (\(violation.code))"
        case .reset(.http11Required): "the server requires HTTP/1.1"
        case .reset(let code): "the server ended the request with the HTTP/2 error \(code)"
        case .invalidRequest(let failure): "the request is invalid: \(failure.explanation)"
        case .deadlineExceeded, .timedOut: "timed out"
        case .cancelled: "the request was cancelled"
        case .contentFailed(let error): "cannot read the content to send: \(error)"
        case .tooLarge(let limit): "the response is longer than \(limit) bytes"
        case .closed: "the connection was closed"
        }
    }
}
