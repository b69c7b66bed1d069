extension NetworkProtocolOptions {
    /// The element to use in a stack. This library has no options for a program-defined element type, so ``UnknownElement`` replaces it,
    /// and connections fail with `.posix(.ENOTSUP)`. The element is never omitted.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Replaces a program-defined element type.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
    /// The default protocol below: TCP. Any transport would do, because connections with this element always fail.
    package var impliedBelow: (any StackElement)? { TCP() }
}
