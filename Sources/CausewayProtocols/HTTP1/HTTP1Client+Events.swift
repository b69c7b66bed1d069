package import CausewayWire

extension HTTP1Client {
    package struct Configuration: Sendable {
        /// Limits for response heads and trailer sections.
        package var headLimits = HeadReader.Limits()
        /// The maximum number of interim responses to one request.
        package var maximumInformationalCount = 32
        /// The time to wait for status 100 before the body is sent anyway (RFC 9110 §10.1.1).
        package var continueTimeout: Duration = .seconds(1)

        package init() {}
    }

    /// Whether the connection can carry another request.
    package enum Reuse: Equatable, Sendable {
        /// The connection can carry another request, within the limits that the server has stated.
        case permitted(KeepAlive)
        /// The connection cannot be reused. The event ``Event/ended(_:)`` comes next.
        case refused
    }

    package enum Event: Equatable, Sendable {
        /// An interim response (RFC 9110 §15.2). Further responses follow.
        case informational(HTTPResponseHead)
        /// The response head, and how the response's body is delimited.
        case responded(HTTPResponseHead, HTTP1BodyLength)
        /// A part of the body, never empty.
        case content(ArraySlice<UInt8>)
        /// The end of the response, with its trailer fields.
        case finished(trailers: FieldSection, Reuse)
        /// The server switched to another protocol with status 101 (RFC 9110 §15.2.2), or opened the tunnel that CONNECT requested. This is
        /// the last event.
        /// The owner takes the remaining bytes with ``takeRemainingInput()``.
        case upgraded(HTTPResponseHead)
        /// The connection ended. This is the last event. Close the transport. The failure is `nil` if no response was interrupted.
        case ended(HTTP1Failure?)
    }
}
