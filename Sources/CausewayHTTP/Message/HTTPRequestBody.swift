package import CausewayWire
package import FoundationEssentials

/// A request's content.
package enum HTTPRequestBody: Sendable {
    case none
    /// Data in memory. A retry on another connection can send the data again.
    case data(Data)
    /// Content produced in chunks during transmission. Without a length, it is sent with the chunked transfer coding (RFC 9112 §7.1).
    case stream(any HTTPBodySource, length: Int?)
}

/// What a content source returns when it is asked for content.
package enum HTTPBodyPiece: Sendable {
    case content(Data)
    /// The end of the content, with its trailer fields. HTTP/1.1 sends trailer fields only with the chunked transfer
    /// coding.
    case end(FieldSection)
    case failure(any Error)
}

/// Produces one request's content.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// Delivers the next chunk. The connection calls this method again as soon as less than 64 KiB of the earlier
    /// content is unsent.
    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void)
    /// Stops the source, because the rest of the content is not needed.
    func stop()
}
