package import CausewayProtocols

/// Messages with a type and a length before each, in a ``NWParameters/ProtocolStack``.
// SAFETY: all stored properties are immutable and `Sendable`.
package final class TLVOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "tlv")

    package let header: TLVHeader

    package init(header: TLVHeader) {
        self.header = header
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { TLVOptions(header: header) }
}

/// Encoded values as messages, in a ``NWParameters/ProtocolStack``.
// SAFETY: what is added is immutable and `Sendable`.
package final class CoderOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "coder")

    /// As the program gave it. The types of the values belong to the connection's type.
    package let coder: any NetworkCoder

    package init(coder: any NetworkCoder) {
        self.coder = coder
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { CoderOptions(coder: coder) }
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
    /// Whatever it may stand on: what is wrong is the element.
    package var impliedBelow: (any StackElement)? { TCP() }
}
