internal import CausewaySystem
internal import Foundation

/// The content of a response on its way to the task.
struct LoadContent {
    /// Where the next piece goes.
    enum Destination {
        case task
        /// To a decoder that must be created for this response first, and that splits the content into parts if there are any.
        case newDecoder(HTTPURLResponse, ReplacingParts?)
        /// To the decoder, which has the piece.
        case decoder(DecodedContent)
        case parts(ReplacingParts)
    }

    /// The content of the held response that has not been delivered.
    var held: [Data] = []
    var decoder: DecodedContent?
    /// The decoder for content whose parts replace each other; `nil` for other content.
    var parts: ReplacingParts?

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
}
