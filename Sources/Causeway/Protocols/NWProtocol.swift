/// The base of the classes that group one protocol's definition, options and metadata.
///
/// It has no initialiser and no state: its subclasses are namespaces.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties, here or in subclasses.
public class NWProtocol: @unchecked Sendable {
    package init() {}
}

/// The base of every protocol's options, as they stand in a ``NWParameters/ProtocolStack``.
///
/// Options are read when a connection or listener is made; later changes have no effect on it. They may be read and
/// written from any thread.
///
/// A new protocol subclasses this, passes its definition to `init(definition:)`, keeps its values in a `Mutex` and
/// overrides `copyOptions()`.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: `definition` is immutable, and each subclass keeps its values in a `Mutex`. `OptionConcurrencyTests` reads
// and writes them from many threads.
public class NWProtocolOptions: @unchecked Sendable {
    /// The protocol these options configure.
    package let definition: NWProtocolDefinition

    package init(definition: NWProtocolDefinition) {
        self.definition = definition
    }

    /// A deep copy: changing it leaves the original as it is. Every subclass with state overrides it.
    package func copyOptions() -> NWProtocolOptions {
        NWProtocolOptions(definition: definition)
    }
}

/// The base of what a protocol tells about one message or one connection.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: `definition` is immutable, and each subclass keeps its values in a `Mutex` or immutable.
public class NWProtocolMetadata: @unchecked Sendable {
    /// The protocol this metadata belongs to: the key of ``NWConnection/ContentContext/protocolMetadata(definition:)``.
    package let definition: NWProtocolDefinition

    package init(definition: NWProtocolDefinition) {
        self.definition = definition
    }
}
