/// Why a byte sequence is not a valid protocol element.
///
/// Positions and counts are in bytes, positions from the start of the outermost buffer that was being read, so that
/// a report can be held against a hex dump whatever the nesting of the element.
package enum WireError: Error, Equatable, Sendable {
    /// The input ended before the element did.
    case truncated(needed: Int, available: Int, at: Int)
    /// A field holds a value that its specification forbids. The text names the field.
    case invalid(String, at: Int)
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let needed, let available, let position):
            "truncated at byte \(position): \(needed) needed, \(available) available"
        case .invalid(let field, let position):
            "invalid \(field) at byte \(position)"
        }
    }
}
