package import CausewayHTTPProtocols

/// Why content could not be decoded.
package enum DecodingFailure: Error, Equatable, Sendable {
    /// The decoder cannot be used: its library is missing, or memory allocation failed. The reason names the package to install.
    case unavailable(ContentCoding, reason: String)
    /// The content has a coding that cannot be decoded here, or more codings than ``ContentDecoding/maximumCount``.
    case unsupported(String)
    /// The encoded data is damaged. `offset` is the number of input bytes that this coding's decoder had consumed
    /// before the damage.
    case damaged(ContentCoding, offset: Int, reason: String)
    /// The encoded data ended before its end mark.
    case truncated(ContentCoding)
    /// The decoded content exceeds its limit.
    case excess(DecodingBudget.Excess)
}

extension DecodingFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let coding, let reason): "cannot decode content with coding \(coding.rawValue): \(reason)"
        case .unsupported(let name): "content coding '\(name)' is not supported, or the content has too many codings"
        case .damaged(let coding, let offset, let reason):
            "content with coding \(coding.rawValue) is damaged at byte \(offset): \(reason)"
        case .truncated(let coding): "content with coding \(coding.rawValue) ended early"
        case .excess(.size(let limit)): "decoded content is larger than \(limit) bytes"
        case .excess(.ratio(let limit)): "decoded content is more than \(limit) times as large as the encoded content"
        }
    }
}
