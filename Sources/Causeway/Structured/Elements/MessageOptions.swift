/// Messages with a type and a length before each, in a ``NWParameters/ProtocolStack``.
// SAFETY: all stored properties are immutable and `Sendable`.
package final class TLVOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "tlv")

    /// Octets of the type and of the length on the wire.
    package struct Widths: Equatable, Sendable {
        package var type = 4
        package var length = 4
    }

    package let widths: Widths

    package init(widths: Widths) {
        self.widths = widths
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { TLVOptions(widths: widths) }
}

/// Encoded values as messages, in a ``NWParameters/ProtocolStack``. The coder itself belongs to the connection's type.
// SAFETY: no stored properties are added here.
package final class CoderOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "coder")

    package init() {
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { CoderOptions() }
}

extension NetworkProtocolOptions {
    /// The element for a stack. One of the program's own has no options here, and says so in its place: a connection over
    /// it fails with `.posix(.ENOTSUP)` and never goes on without it.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Stands for an element of the program's own.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
}
