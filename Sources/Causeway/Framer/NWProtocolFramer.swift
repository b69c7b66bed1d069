internal import CausewaySystem

/// The namespace for framers: program-defined message protocols above the transport.
///
/// To use a framer, add its ``Options`` to the application protocols of a connection's or listener's parameters. The framer's methods are
/// called on the connection's queue, one after the other.
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

    /// A framer's definition.
    ///
    /// Create one definition for each framer and share it: definitions are compared by reference.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only stored property added here is an immutable metatype. Framers of this type are created on the
    // queues of their connections.
    public final class Definition: NWProtocolDefinition, @unchecked Sendable {
        /// The framer's class.
        package let implementation: any NWProtocolFramerImplementation.Type

        /// Creates a definition for a framer class. The class's label becomes the protocol name.
        public init(implementation: any NWProtocolFramerImplementation.Type) {
            self.implementation = implementation
            super.init(name: implementation.label)
        }
    }

    /// Options for a framer, an element of a protocol stack.
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

        /// The framer's definition.
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

    /// Metadata for one framer message: values exchanged between the framer and the program.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is protected by a lock.
    public final class Message: NWProtocolMetadata, @unchecked Sendable {
        private let values = FramerValues()

        /// Creates metadata for a message to send. Used by the program.
        public init(definition: NWProtocolFramer.Definition) {
            super.init(definition: definition)
        }

        /// Creates metadata for a received message. Used by the framer.
        public init(instance: NWProtocolFramer.Instance) {
            super.init(definition: instance.options.framerDefinition)
        }

        /// A message value for a framer-defined key. Can be used from any thread.
        public subscript(key: String) -> Any? {
            get { values[key] }
            set { values[key] = newValue }
        }
    }
}

/// A dictionary that stores values of type `Any`. A lock protects it.
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
            // Release the replaced value outside the lock: it may own the only reference to one of the program's
            // objects.
            let old = storage.withLock { values in
                defer { values[key] = value }
                return values[key]
            }
            withExtendedLifetime(old) {}
        }
    }
}
