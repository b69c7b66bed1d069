package import CausewayWire
package import FoundationEssentials

/// The content of a request.
package enum HTTPRequestBody: Sendable {
    case none
    /// Data, which can be sent again on another connection.
    case data(Data)
    /// Pieces that are produced while they are sent. Without a length the content is chunked (RFC 9112 §7.1).
    case stream(any HTTPBodySource, length: Int?)
}

/// One step of a source of content.
package enum HTTPBodyPiece: Sendable {
    case content(Data)
    /// The end, with the trailer fields of chunked content.
    case end(FieldSection)
    case failure(any Error)
}

/// Produces the content of one request.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// Delivers the next piece. The next call comes after the transport has taken most of the earlier ones.
    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void)
    /// Stops the source: the rest of the content is not needed.
    func stop()
}
