internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import FoundationEssentials

extension Exercise {
    /// Tests content decoding. The first input bytes choose up to four content codings for the rest of the input.
    ///
    /// The exercise splits the input and sizes the output in different ways. It checks that the result stays the same,
    /// and that no piece exceeds its limit.
    ///
    /// - Returns: Whether the bytes are complete content.
    @discardableResult
    public static func contentDecoding(_ bytes: [UInt8]) -> Bool {
        var choices = Choices(bytes)
        let codings = (0...choices.next(below: ContentDecoding.maximumCount)).map { _ in
            ContentCoding.allCases[choices.next(below: ContentCoding.allCases.count)]
        }
        guard Set(codings).isSubset(of: ContentDecoder.available) else { return false }
        let encoded = choices.rest
        let whole = Decoded(encoded, codings, pieceLength: .max, limit: ContentDecoder.pieceLimit)
        for (pieceLength, limit) in [(1, ContentDecoder.pieceLimit), (3, 7)] {
            let split = Decoded(encoded, codings, pieceLength: pieceLength, limit: limit)
            // Another way of splitting may cause another failure, and may deliver other content before the failure. One
            // reason is zstd, which decodes a whole frame in one step if it can. Only then does it check the size that
            // the frame states.
            let bothSucceed = split.failure == nil && whole.failure == nil
            precondition(!bothSucceed || split.content == whole.content)
            precondition((split.failure == nil) == (whole.failure == nil) || codings.contains(.zstandard))
        }
        return whole.failure == nil
    }

    private struct Decoded {
        enum Failure {
            case unavailable
            case broken
            case truncated
            case excess
        }

        var content: [UInt8] = []
        var failure: Failure?

        init(_ bytes: [UInt8], _ codings: [ContentCoding], pieceLength: Int, limit: Int) {
            let budget = DecodingBudget(maximumRatio: .max, maximumSize: 100_000)
            do throws(DecodingFailure) {
                let decoder = try ContentDecoder(codings, budget: budget)
                var rest = bytes[...]
                repeat {
                    decoder.append(Data(rest.prefix(pieceLength)))
                    rest = rest.dropFirst(pieceLength)
                    if rest.isEmpty { decoder.end() }
                    while let piece = try decoder.next(atMost: limit) {
                        precondition(!piece.isEmpty && piece.count <= limit)
                        content += piece
                    }
                } while !rest.isEmpty
            } catch {
                switch error {
                case .unavailable, .unsupported: failure = .unavailable
                case .damaged: failure = .broken
                case .truncated: failure = .truncated
                case .excess: failure = .excess
                }
            }
        }
    }
}
