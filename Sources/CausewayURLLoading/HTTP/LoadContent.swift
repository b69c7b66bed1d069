internal import Foundation

/// The content of a response on its way to the task.
struct LoadContent: Sendable {
    /// The destination of the next piece of content.
    enum Destination: Sendable {
        case task
        /// A decoder that must first be created for this response. Its output is split if the content is
        /// `multipart/x-mixed-replace`.
        case newDecoder(HTTPURLResponse, ReplacingParts?)
        /// A decoder, to which the piece was already passed.
        case decoder(DecodedContent)
        case parts(ReplacingParts)
    }

    /// The content that was held back together with its response and has not been delivered.
    private(set) var held: [Data] = []
    private(set) var decoder: DecodedContent?
    /// The decoder for `multipart/x-mixed-replace` content, whose parts replace each other; `nil` for other content.
    private(set) var parts: ReplacingParts?

    /// Whether received content waits to be decoded.
    var hasBacklog: Bool { decoder?.hasBacklog == true }

    /// Returns the destination of a piece that is delivered now.
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

    /// Discards the decoder and the content that was held back, because the load has ended.
    mutating func end() {
        decoder = nil
        held = []
    }
}
