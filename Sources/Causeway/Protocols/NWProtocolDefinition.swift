/// The identity of one protocol.
///
/// A definition is the key to look up metadata: `connection.metadata(definition: NWProtocolTCP.definition)`. Each protocol has exactly one
/// definition object, so equality compares references.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: all stored properties, here and in subclasses, are immutable and `Sendable`. The class is not final because a framer's definition
// is a subclass.
public class NWProtocolDefinition: Equatable, CustomDebugStringConvertible, @unchecked Sendable {
    /// A short name for logs, such as `tcp`. For a framer, its label.
    public let name: String

    package init(name: String) {
        self.name = name
    }

    /// Returns whether both definitions are the same object, that is, identify the same protocol.
    public static func == (lhs: NWProtocolDefinition, rhs: NWProtocolDefinition) -> Bool {
        lhs === rhs
    }

    /// The name of the protocol.
    public var debugDescription: String { name }
}
