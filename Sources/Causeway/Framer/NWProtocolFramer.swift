internal import CausewaySystem

/// The namespace of framers: message protocols above the transport that a program implements.
///
/// To use a framer, add its ``Options`` to the application protocols of a connection's or listener's parameters. The methods of the framer
/// are called on the connection's queue, one after the other.
///
/// Counterpart: macOS 10.15, iOS 13.
// SAFETY: no stored properties.
public class NWProtocolFramer: NWProtocol, @unchecked Sendable {
    /// The result of ``NWProtocolFramerImplementation/start(framer:)``.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum StartResult: Equatable, Hashable, Sendable {
        /// The framer is ready.
        case ready
        /// The framer performs a handshake first, and then calls ``NWProtocolFramer/Instance/markReady()``.
        case willMarkReady
    }

    /// The definition of a framer.
    ///
    /// Create one definition for each framer and share it: definitions are compared by reference.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only stored property added here is an immutable metatype. Its objects are created on the queue of their connection.
    public final class Definition: NWProtocolDefinition, @unchecked Sendable {
        /// The class of the framer.
        package let implementation: any NWProtocolFramerImplementation.Type

        /// Creates the definition of a framer class. The class's label becomes the name of the protocol.
        public init(implementation: any NWProtocolFramerImplementation.Type) {
            self.implementation = implementation
            super.init(name: implementation.label)
        }
    }

    /// The options that add a framer to a protocol stack.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is protected by a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        private let values: FramerValues

        /// Creates options for the framer with this definition.
        public convenience init(definition: NWProtocolFramer.Definition) {
            self.init(definition: definition, values: FramerValues())
        }

        private init(definition: Definition, values: FramerValues) {
            framerDefinition = definition
            self.values = values
            super.init(definition: definition)
        }

        /// The definition of the framer.
        package let framerDefinition: Definition

        package override func copyOptions() -> NWProtocolOptions {
            Options(definition: framerDefinition, values: values.copy())
        }

        /// A value that the program passes to the framer. The framer reads it from ``NWProtocolFramer/Instance/options``. Can be used from
        /// any thread.
        ///
        /// Counterpart: macOS 12.3, iOS 15.4.
        public subscript(key: String) -> Any? {
            get { values[key] }
            set { values[key] = newValue }
        }
    }

    /// The metadata of one message of a framer: values that the framer and the program exchange.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is protected by a lock.
    public final class Message: NWProtocolMetadata, @unchecked Sendable {
        private let values = FramerValues()

        /// Creates the metadata of a message to send. Used by the program.
        public init(definition: NWProtocolFramer.Definition) {
            super.init(definition: definition)
        }

        /// Creates the metadata of a received message. Used by the framer.
        public init(instance: NWProtocolFramer.Instance) {
            super.init(definition: instance.options.framerDefinition)
        }

        /// A value of the message, with a key that the framer defines. Can be used from any thread.
        public subscript(key: String) -> Any? {
            get { values[key] }
            set { values[key] = newValue }
        }
    }
}

/// A dictionary with values of any type, protected by a lock.
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
            // Release the replaced value outside the lock: it may own the last reference to an object of the program.
            let old = storage.withLock { values in
                defer { values[key] = value }
                return values[key]
            }
            withExtendedLifetime(old) {}
        }
    }
}
