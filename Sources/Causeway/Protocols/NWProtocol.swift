/// The base class for the protocol namespaces, such as ``NWProtocolTCP``.
///
/// A namespace contains one protocol's definition, options and metadata types. Programs cannot create namespace objects.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties, here or in subclasses.
public class NWProtocol: @unchecked Sendable {
    package init() {}
}

/// The base class for protocol options, the elements of a ``NWParameters/ProtocolStack``.
///
/// A connection or listener reads the options when it is created; later changes do not affect it. Options can be read and changed from any
/// thread.
///
/// To add a protocol to this library, create a subclass that passes its definition to `init(definition:)`, protects its
/// values with a lock and overrides `copyOptions()`.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: `definition` is immutable, and each subclass protects its values with a lock. `OptionConcurrencyTests` reads
// and writes them from many threads.
public class NWProtocolOptions: @unchecked Sendable {
    /// The configured protocol.
    package let definition: NWProtocolDefinition

    package init(definition: NWProtocolDefinition) {
        self.definition = definition
    }

    /// Returns a deep copy: changes to the copy do not affect the original. Each subclass with stored values overrides this method.
    package func copyOptions() -> NWProtocolOptions {
        NWProtocolOptions(definition: definition)
    }
}

/// The base class for protocol metadata, about one message or a whole connection.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: `definition` is immutable, and each subclass stores its values behind a lock or as constants.
public class NWProtocolMetadata: @unchecked Sendable {
    /// The protocol, and the key for ``NWConnection/ContentContext/protocolMetadata(definition:)``.
    package let definition: NWProtocolDefinition

    package init(definition: NWProtocolDefinition) {
        self.definition = definition
    }
}
