internal import Foundation

/// The content of a response on its way to the task.
struct LoadContent: Sendable {
    /// Where the next piece goes.
    enum Destination: Sendable {
        case task
        /// To a decoder that must be created for this response first, and that splits the content into any parts.
        case newDecoder(HTTPURLResponse, ReplacingParts?)
        /// To the decoder, which has the piece.
        case decoder(DecodedContent)
        case parts(ReplacingParts)
    }

    /// The content of the held response that has not been delivered.
    private(set) var held: [Data] = []
    private(set) var decoder: DecodedContent?
    /// The decoder for content whose parts replace each other; `nil` for other content.
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

    /// Removes and returns the held content.
    mutating func takeHeld() -> [Data] {
        defer { held = [] }
        return held
    }

    mutating func dropHeld() { held = [] }

    mutating func partsFound(_ parts: ReplacingParts) { self.parts = parts }

    mutating func decoderMade(_ decoder: DecodedContent) { self.decoder = decoder }

    /// Ends the load. Content that has not been delivered is not needed.
    mutating func end() {
        decoder = nil
        held = []
    }
}
