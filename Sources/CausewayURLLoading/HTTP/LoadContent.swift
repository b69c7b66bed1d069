internal import CausewaySystem
internal import Foundation

/// The content of a response on its way to the task.
struct LoadContent {
    /// Where the next piece goes.
    enum Destination {
        case task
        /// To a decoder that must be created first.
        case newDecoder
        /// To the decoder, which has the piece.
        case decoder
        case parts(ReplacingParts)
    }

    /// The content of the held response that has not been delivered.
    var held: [Data] = []
    var decoder: DecodedContent?
    /// The decoder for content whose parts replace each other; `nil` for other content.
    var parts: ReplacingParts?

    /// Returns the destination of a piece that is delivered now.
    func destination(of piece: Data, isEncoded: Bool) -> Destination {
        guard let decoder else { return isEncoded ? .newDecoder : parts.map { .parts($0) } ?? .task }
        decoder.append(piece)
        return .decoder
    }
}
