extension NetworkProtocolOptions {
    /// The element for a stack. A type that the program defines has no options in this library and is replaced by ``UnknownElement``: a
    /// connection over it fails with `.posix(.ENOTSUP)`, and is never made without it.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Replaces an element type that the program defines.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
    /// Any protocol is accepted, because the error is reported for the element itself.
    package var impliedBelow: (any StackElement)? { TCP() }
}
