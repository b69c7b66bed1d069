/// The identity of one protocol.
///
/// Definitions are the keys of metadata look-ups: `connection.metadata(definition: NWProtocolTCP.definition)`.
/// Each protocol has exactly one definition object, and equality is identity.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: all stored properties, here and in subclasses, are immutable and `Sendable`. The class is not final because
// programs' framers get a subclass of it.
public class NWProtocolDefinition: Equatable, CustomDebugStringConvertible, @unchecked Sendable {
    /// A short name such as `tcp`.
    public let name: String

    package init(name: String) {
        self.name = name
    }

    /// Whether both are the definition of the same protocol.
    public static func == (lhs: NWProtocolDefinition, rhs: NWProtocolDefinition) -> Bool {
        lhs === rhs
    }

    /// The name of the protocol.
    public var debugDescription: String { name }
}
