extension NetworkProtocolOptions {
    /// Returns this element if this library defines its type; otherwise returns an ``UnknownElement``. A connection
    /// with an unknown element fails with `.posix(.ENOTSUP)`. If it did not fail, it would run without an element that
    /// the program requested.
    package var stackElement: any StackElement { (self as? any StackElement) ?? UnknownElement() }
}

/// Takes the place of an element whose type the program has defined. Connections with this element fail.
package struct UnknownElement: StackElement {
    package typealias BelowProtocol = Void
    package struct Metadata: NetworkMetadataProtocol {}

    package static let definition = NWProtocolDefinition(name: "unknown")

    package var layer: StackLayers.Layer { .application(NWProtocolOptions(definition: Self.definition)) }
    package var below: (any StackElement)? { nil }
    /// The default element below this element. Its type does not matter, because connections with this element always
    /// fail.
    package var impliedBelow: (any StackElement)? { TCP() }
}
