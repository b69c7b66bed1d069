package import CausewayWire

extension HTTP2Connection {
    package enum Role: Sendable {
        case client
        case server
    }

    package enum Event: Equatable, Sendable {
        /// The peer's current settings. Reported for each of its SETTINGS frames. The first such event makes the
        /// connection usable.
        case settings(HTTP2Settings)
        /// Server only: a request on a new stream.
        case request(HTTP2StreamID, HTTP2RequestHead, endsStream: Bool)
        /// Client only: an interim response.
        case informational(HTTP2StreamID, HTTP2ResponseHead)
        /// Client only: the response head.
        case response(HTTP2StreamID, HTTP2ResponseHead, endsStream: Bool)
        /// Received content.
        case content(HTTP2StreamID, ArraySlice<UInt8>, endsStream: Bool)
        /// The trailer section, which ends the peer's message.
        case trailers(HTTP2StreamID, FieldSection)
        /// The connection has taken all queued content for sending. The message has not ended, so the program can send
        /// more content.
        case drained(HTTP2StreamID)
        /// A stream's last event. The failure is `nil` if the request and the response are complete.
        case closed(HTTP2StreamID, HTTP2StreamFailure?)
        /// The peer acknowledged the ping with this token.
        case pingAnswered(UInt64)
        /// The peer accepts no new streams.
        case goAway(HTTP2ErrorCode, lastStreamID: HTTP2StreamID, debugData: [UInt8])
        /// The last event. Close the transport after the remaining output has been sent.
        case ended(HTTP2ConnectionFailure?)
    }
}
