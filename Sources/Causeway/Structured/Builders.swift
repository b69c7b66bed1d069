/// Builds a protocol stack from its elements: the application protocol first, then the protocols below it.
///
/// Counterpart: macOS 26, iOS 26.
@resultBuilder
public struct ProtocolStackBuilder<ApplicationProtocol, each P>
where ApplicationProtocol: NetworkProtocolOptions, repeat each P: NetworkProtocolOptions {
    /// Combines stack elements, the application protocol first.
    public static func buildBlock(
        _ applicationProtocol: ApplicationProtocol, _ belowProtocols: repeat each P
    ) -> (ApplicationProtocol, repeat each P) {
        (applicationProtocol, repeat each belowProtocols)
    }
}

/// Builds a list of metadata to send with content.
///
/// Counterpart: macOS 26, iOS 26.
@resultBuilder
public struct ProtocolMetadataBuilder {
    /// Combines metadata objects into a list.
    public static func buildBlock(_ metadata: NWProtocolMetadata...) -> [NWProtocolMetadata] { metadata }
}

/// A protocol stack with parameters: `.parameters { TLS() }.localPort(443)`.
///
/// The top of the stack comes first. The protocols below the top may be passed to its initializer, as in `TLS { TCP() }`, or listed after
/// it.
///
/// Counterpart: macOS 26, iOS 26.
public struct NWParametersBuilder<Top, each P>: NWParametersProvider
where Top: NetworkProtocolOptions, repeat each P: NetworkProtocolOptions {
    /// The resulting parameters.
    public var parameters: NWParameters

    /// Creates parameters from the stack returned by a closure.
    public init(auto: () -> (Top, repeat each P)) {
        parameters = Self.make(auto(), initial: nil)
    }

    /// Creates parameters from a stack.
    public init(@ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)) {
        parameters = Self.make(builder(), initial: nil)
    }

    private init(parameters: NWParameters) {
        self.parameters = parameters
    }

    /// Creates the parameters for a protocol stack.
    ///
    /// - Parameter stack: A stack element, or a tuple of elements with the top element first. The tuple is read by
    ///   reflection. Swift can extract a parameter pack from a tuple only if no other elements come before the pack,
    ///   but here the top element does.
    private static func make(_ stack: Any, initial: NWParameters?) -> NWParameters {
        if let top = stack as? Top { return NWParameters(top: top, initial: initial) }
        let elements = Mirror(reflecting: stack).children.map { child in
            (child.value as? any NetworkProtocolOptions)?.stackElement ?? UnknownElement()
        }
        let top = elements.first ?? UnknownElement()
        return NWParameters(top: top, others: Array(elements.dropFirst()), initial: initial)
    }

    /// Creates parameters from a stack.
    public static func parameters(
        @ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)
    ) -> NWParametersBuilder<Top, repeat each P> {
        NWParametersBuilder(parameters: make(builder(), initial: nil))
    }

    /// Creates parameters from a stack. All other settings are copied from `initialParameters`.
    public static func parameters(
        initialParameters: NWParameters, @ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)
    ) -> NWParametersBuilder<Top, repeat each P> {
        NWParametersBuilder(parameters: make(builder(), initial: initialParameters))
    }
}
