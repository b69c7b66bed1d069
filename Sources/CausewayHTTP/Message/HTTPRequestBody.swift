package import CausewayWire
package import FoundationEssentials

/// The content of a request.
package enum HTTPRequestBody: Sendable {
    case none
    /// Data, which can be sent again on another connection.
    case data(Data)
    /// Content that is produced piece by piece during transmission. Without a length, it is sent with the chunked transfer coding
    /// (RFC 9112 §7.1).
    case stream(any HTTPBodySource, length: Int?)
}

/// One result of a content source.
package enum HTTPBodyPiece: Sendable {
    case content(Data)
    /// The end of the content, with the trailer fields of chunked content.
    case end(FieldSection)
    case failure(any Error)
}

/// Produces the content of one request.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// Delivers the next piece. The next call follows when the transport has processed most of the earlier pieces.
    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void)
    /// Stops the source, because the rest of the content is not needed.
    func stop()
}
