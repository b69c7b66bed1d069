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
