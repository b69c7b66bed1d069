public import Foundation

extension URLError {
    /// A text for people: the one in `userInfo`, otherwise a description of the code.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    public var localizedDescription: String {
        if let text = userInfo[NSLocalizedDescriptionKey] as? String { return text }
        return LoadFailure.text(of: code) ?? (self as any Error).localizedDescription
    }
}

extension LoadFailure {
    /// The descriptions of error codes. If several causes have one code, the first counts.
    private static let texts: [URLError.Code: String] = Dictionary(
        Cause.allCases.map { row(of: $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the description of an error code; `nil` for codes that this library does not use.
    static func text(of code: URLError.Code) -> String? { texts[code] }
}
