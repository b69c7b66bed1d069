internal import Foundation

/// The content of a response, on its way from the connection to the task.
struct LoadContent: Sendable {
    /// The destination of the next piece of content.
    enum Destination: Sendable {
        case task
        /// The content needs a decoder, which the caller must create for this response. If the content is
        /// `multipart/x-mixed-replace`, the decoder's output is split into parts.
        case newDecoder(HTTPURLResponse, ReplacingParts?)
        /// A decoder that already exists, and that has already received this piece of content.
        case decoder(DecodedContent)
        case parts(ReplacingParts)
    }

    /// The undelivered content of a response that is held back.
    private(set) var held: [Data] = []
    private(set) var decoder: DecodedContent?
    /// The decoder for `multipart/x-mixed-replace` content, whose parts replace each other; `nil` for other content.
    private(set) var parts: ReplacingParts?

    /// Whether received content waits to be decoded.
    var hasBacklog: Bool { decoder?.hasBacklog == true }

    /// Decides where to deliver a received piece of content.
    ///
    /// - Parameter response: The response to which the piece belongs; `nil` if the load has ended.
    func destination(of piece: Data, in response: HTTPURLResponse?) -> Destination {
        if let decoder {
            decoder.append(piece)
            return .decoder(decoder)
        }
        if let response, response.isContentDecoded { return .newDecoder(response, parts) }
        if let parts { return .parts(parts) }
        return .task
    }

    // MARK: Events

    mutating func hold(_ piece: Data) { held.append(piece) }

    /// Removes and returns the content that was held back.
    mutating func takeHeld() -> [Data] {
        defer { held = [] }
        return held
    }

    mutating func dropHeld() { held = [] }

    mutating func partsFound(_ parts: ReplacingParts) { self.parts = parts }

    mutating func decoderMade(_ decoder: DecodedContent) { self.decoder = decoder }

    /// Discards the decoder and the content held back so far, because the load has ended.
    mutating func end() {
        decoder = nil
        held = []
    }
}
