extension NetworkProtocolOptions {
    /// This element, or ``UnknownElement`` for a program-defined type, for which this library has no options. A stack
    /// with ``UnknownElement`` makes connections fail with `.posix(.ENOTSUP)`: no element is silently left out.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Replaces a program-defined element type.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
    /// The default element below. The choice of TCP does not matter, because connections with this element always fail.
    package var impliedBelow: (any StackElement)? { TCP() }
}
