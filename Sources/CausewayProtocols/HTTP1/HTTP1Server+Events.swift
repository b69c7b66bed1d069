package import CausewayWire

extension HTTP1Server {
    package struct Configuration: Sendable {
        /// Limits for request heads and trailer sections.
        package var headLimits = HeadReader.Limits()
        /// The maximum size, in bytes, of a request body that the server discards after an early response. If the body
        /// is larger, the server closes the connection instead of reading the rest.
        package var drainLimit = 256 << 10

        package init() {}
    }

    package enum Event: Equatable, Sendable {
        /// A request head, and how the request's body is delimited. The owner can call ``respond(_:body:)`` immediately
        /// or later.
        case requested(HTTPRequestHead, HTTP1BodyLength)
        /// Part of the body, never empty.
        case content(ArraySlice<UInt8>)
        /// The end of the request, with its trailer fields. This event is not reported if the response ends first.
        case finished(trailers: FieldSection)
        /// The response switched to another protocol or opened a tunnel. This is the last event. The owner takes the remaining bytes with
        /// ``takeRemainingInput()``.
        case upgraded
        /// The connection ended. This is the last event. Close the transport after all output is sent. The failure is
        /// `nil` if no request was interrupted.
        case ended(HTTP1Failure?)
    }
}
