public import Foundation

extension URLError {
    /// A human-readable text: the text in `userInfo`, otherwise a description of the code.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    public var localizedDescription: String {
        if let text = userInfo[NSLocalizedDescriptionKey] as? String { return text }
        return LoadFailure.text(of: code) ?? (self as any Error).localizedDescription
    }
}

extension LoadFailure {
    /// The descriptions by error code. If several causes have the same code, the first cause's description is used.
    private static let texts: [URLError.Code: String] = Dictionary(
        Cause.allCases.map { row(of: $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns an error code's description; `nil` for codes that this library does not use.
    static func text(of code: URLError.Code) -> String? { texts[code] }
}
