internal import CausewaySystem

/// Protocols of programs' own, which stand above the transport: a namespace.
///
/// A framer is put into the application protocols of a connection's or listener's parameters. Its methods are called on the
/// connection's queue, one after the other.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: no stored properties.
public class NWProtocolFramer: NWProtocol, @unchecked Sendable {
    /// What a framer says when it is started.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum StartResult: Equatable, Hashable, Sendable {
        /// It is ready.
        case ready
        /// It calls ``NWProtocolFramer/Instance/markReady()`` when it is.
        case willMarkReady
    }

    /// The identity of one framer.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only stored property added here is an immutable metatype, from which objects are made on the queue of
    // their connection.
    public final class Definition: NWProtocolDefinition, @unchecked Sendable {
        /// What the framer is made of.
        package let implementation: any NWProtocolFramerImplementation.Type

        /// Makes the identity of a framer, which is named by its label.
        public init(implementation: any NWProtocolFramerImplementation.Type) {
            self.implementation = implementation
            super.init(name: implementation.label)
        }
    }

    /// Puts a framer into a stack.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        private let values: FramerValues

        /// Makes options for a framer.
        public convenience init(definition: NWProtocolFramer.Definition) {
            self.init(definition: definition, values: FramerValues())
        }

        private init(definition: Definition, values: FramerValues) {
            framerDefinition = definition
            self.values = values
            super.init(definition: definition)
        }

        /// The identity of the framer.
        package let framerDefinition: Definition

        package override func copyOptions() -> NWProtocolOptions {
            Options(definition: framerDefinition, values: values.copy())
        }

        /// A value for the framer, which finds it at ``NWProtocolFramer/Instance/options``.
        ///
        /// Counterpart: macOS 12.3, iOS 15.4.
        public subscript(key: String) -> Any? {
            get { values[key] }
            set { values[key] = newValue }
        }
    }

    /// What a framer and the program tell each other about one message.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is behind a lock.
    public final class Message: NWProtocolMetadata, @unchecked Sendable {
        private let values = FramerValues()

        /// Makes the metadata of a message to send.
        public init(definition: NWProtocolFramer.Definition) {
            super.init(definition: definition)
        }

        /// Makes the metadata of a message to deliver.
        public init(instance: NWProtocolFramer.Instance) {
            super.init(definition: instance.options.framerDefinition)
        }

        /// A value of the message.
        public subscript(key: String) -> Any? {
            get { values[key] }
            set { values[key] = newValue }
        }
    }
}

/// Values of any type by name.
private final class FramerValues: Sendable {
    private let storage: LockedValue<[String: Unchecked<Any>]>

    convenience init() { self.init([:]) }

    private init(_ values: [String: Unchecked<Any>]) {
        storage = LockedValue(values)
    }

    func copy() -> FramerValues { FramerValues(storage.withLock { $0 }) }

    subscript(key: String) -> Any? {
        get { storage.withLock { $0[key] }?.value }
        set {
            let value = newValue.map { Unchecked($0) }
            // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
            let old = storage.withLock { values in
                defer { values[key] = value }
                return values[key]
            }
            withExtendedLifetime(old) {}
        }
    }
}
