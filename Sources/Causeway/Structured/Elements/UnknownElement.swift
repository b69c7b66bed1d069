extension NetworkProtocolOptions {
    /// The element to use in a stack. An element type that the program defines has no options in this library, so ``UnknownElement``
    /// replaces it. A connection over such a stack fails with `.posix(.ENOTSUP)`; the element is never omitted.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Replaces an element type that the program defines.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
    /// The default element below. It has no effect, because a connection with this element always fails.
    package var impliedBelow: (any StackElement)? { TCP() }
}
