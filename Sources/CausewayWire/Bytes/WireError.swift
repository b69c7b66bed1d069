/// The reason why bytes are not a valid protocol element.
///
/// Counts and positions are in bytes. Positions count from the start of the outermost buffer, so that they match a hex
/// dump of that buffer even in nested elements.
public enum WireError: Error, Equatable, Sendable {
    /// The input ended inside the element.
    case truncated(needed: Int, available: Int, at: Int)
    /// A field holds a value that its specification forbids. The text names the field.
    case invalid(String, at: Int)
}

extension WireError: CustomStringConvertible {
    /// The error as text, with the position and the sizes in bytes.
    public var description: String {
        switch self {
        case .truncated(let needed, let available, let position):
            "truncated at byte \(position): \(needed) needed, \(available) available"
        case .invalid(let field, let position):
            "invalid \(field) at byte \(position)"
        }
    }
}
