/// The reason why a filter expression is invalid, with its position.
public struct FilterError: Error, Hashable, Sendable {
    /// The reason, in lower case, without the position.
    public var message: String
    /// The position in the expression, in characters from its beginning.
    public var position: Int

    /// Creates an error.
    public init(_ message: String, at position: Int) {
        self.message = message
        self.position = position
    }

    /// Returns the message, the expression, and a mark below the position.
    public func explained(in expression: String) -> String {
        let line = expression.map { $0.isNewline || $0 == "\t" ? " " : String($0) }.joined()
        return "\(message)\n  \(line)\n  \(String(repeating: " ", count: min(position, line.count)))^"
    }
}

extension FilterError: CustomStringConvertible {
    /// The message and the position, counted from 1.
    public var description: String { "filter: \(message), at character \(position + 1)" }
}
