package import CausewayWire

/// Why an HTTP/1 connection cannot be used any more, or why a message cannot be sent.
package enum HTTP1Failure: Error, Equatable, Sendable {
    /// The peer sent bytes that violate the HTTP/1 syntax.
    case syntax(HTTPSyntaxError)
    /// The peer sent a message whose length is ambiguous. Other implementations could divide the same bytes into other
    /// messages, and an attacker could use this for request smuggling (RFC 9112 §11.2). The text names the field.
    case framing(String)
    /// The peer applied a transfer coding other than chunked.
    case unsupportedCoding
    /// The peer sent a request that violates HTTP/1.1. The text names the invalid part.
    case invalidRequest(String)
    /// The stream ended inside a message, after `received` content bytes (RFC 9112 §8). `expected` is the length that
    /// the message states. It is `nil` if the message states no length, or if its head is incomplete.
    case endedEarly(received: Int, expected: Int?)
    /// The stream ended after the client had sent a request and before the first byte of a response. An idempotent
    /// request can be repeated on another connection (RFC 9110 §9.2.2).
    case endedWithoutResponse
    /// The server sent more interim responses to one request than this limit.
    case tooManyInformationalResponses(limit: Int)
    /// The server sent bytes although no request was in progress.
    case unexpectedBytes
    /// The server switched to another protocol although the request did not ask for it.
    case unexpectedUpgrade
    /// The program has supplied a value that cannot be sent in HTTP.
    case unwritable(HTTPSyntaxError)
    /// The program called a method in a state that does not permit it. The text names the mistake.
    case misuse(String)
    /// The program ended the connection.
    case aborted
}

extension HTTP1Failure {
    /// A description of the failure, without a period.
    package var explanation: String {
        switch self {
        case .syntax(let error), .unwritable(let error): "\(error)"
        case .framing(let field): "ambiguous or invalid length (\(field))"
        case .unsupportedCoding: "unsupported transfer coding"
        case .invalidRequest(let part): "invalid request (\(part))"
        case .endedEarly(let received, let expected):
            "the connection ended after \(received)\(expected.map { " of \($0)" } ?? "") bytes of content"
        case .endedWithoutResponse: "the connection ended without a response"
        case .tooManyInformationalResponses(let limit): "more than \(limit) interim responses"
        case .unexpectedBytes: "bytes without a request"
        case .unexpectedUpgrade: "a change of protocol without a request for it"
        case .misuse(let mistake): mistake
        case .aborted: "the connection was closed"
        }
    }
}

extension HTTP1Failure {
    /// The status code and reason phrase of the response to a malformed request; `nil` if no response is sent (RFC 9110 §15.5.1, §15.6.2,
    /// §15.6.6).
    var refusalStatus: String? {
        switch self {
        case .syntax(.limitExceeded): "431 Request Header Fields Too Large"
        case .syntax(.invalid("HTTP version", _)): "505 HTTP Version Not Supported"
        case .unsupportedCoding: "501 Not Implemented"
        case .syntax, .framing, .invalidRequest: "400 Bad Request"
        case .endedEarly, .endedWithoutResponse, .tooManyInformationalResponses, .unexpectedBytes, .unexpectedUpgrade,
            .unwritable, .misuse, .aborted:
            nil
        }
    }
}
