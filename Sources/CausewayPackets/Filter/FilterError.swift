/// Why a filter expression was refused, and where.
public struct FilterError: Error, Hashable, Sendable {
    public var message: String
    /// The place in the expression, in characters from its beginning.
    public var position: Int

    public init(_ message: String, at position: Int) {
        self.message = message
        self.position = position
    }

    /// The message, the expression, and a mark under the place.
    public func explained(in expression: String) -> String {
        let line = expression.map { $0.isNewline || $0 == "\t" ? " " : String($0) }.joined()
        return "\(message)\n  \(line)\n  \(String(repeating: " ", count: min(position, line.count)))^"
    }
}

extension FilterError: CustomStringConvertible {
    public var description: String { "filter: \(message), at character \(position + 1)" }
}
