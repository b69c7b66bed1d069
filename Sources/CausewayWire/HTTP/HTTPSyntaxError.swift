/// The reason why bytes are not valid HTTP, or why a value cannot be written as HTTP.
///
/// Positions are in bytes, from the start of the head or chunked body.
package enum HTTPSyntaxError: Error, Equatable, Sendable {
    /// An element is malformed. The text names the element.
    case invalid(String, at: Int)
    /// The peer sent more than a limit permits. The text names the limit.
    case limitExceeded(String, limit: Int)
    /// A value from the program cannot be written without changing the message's meaning. The text names the value.
    case unwritable(String)
}

extension HTTPSyntaxError: CustomStringConvertible {
    /// The error as text.
    package var description: String {
        switch self {
        case .invalid(let element, let position): "invalid \(element) at byte \(position)"
        case .limitExceeded(let name, let limit): "more \(name) than \(limit)"
        case .unwritable(let value): "invalid \(value)"
        }
    }
}
