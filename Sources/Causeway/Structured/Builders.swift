/// Collects the elements of a stack: the application's protocol first, then what is below it.
///
/// Counterpart: macOS 26, iOS 26.
@resultBuilder
public struct ProtocolStackBuilder<ApplicationProtocol, each P>
where ApplicationProtocol: NetworkProtocolOptions, repeat each P: NetworkProtocolOptions {
    public static func buildBlock(
        _ applicationProtocol: ApplicationProtocol, _ belowProtocols: repeat each P
    ) -> (ApplicationProtocol, repeat each P) {
        (applicationProtocol, repeat each belowProtocols)
    }
}

/// Collects metadata to send along.
///
/// Counterpart: macOS 26, iOS 26.
@resultBuilder
public struct ProtocolMetadataBuilder {
    public static func buildBlock(_ metadata: NWProtocolMetadata...) -> [NWProtocolMetadata] { metadata }
}

/// A protocol stack and parameters: `.parameters { TLS() }.localPort(443)`.
///
/// The stack's top is given first. What it stands on may be given inside it, as in `TLS { TCP() }`, or after it.
///
/// Counterpart: macOS 26, iOS 26.
public struct NWParametersBuilder<Top, each P>: NWParametersProvider
where Top: NetworkProtocolOptions, repeat each P: NetworkProtocolOptions {
    /// The parameters that came of it.
    public var parameters: NWParameters

    /// Makes parameters of a stack that a closure returns.
    public init(auto: () -> (Top, repeat each P)) {
        parameters = Self.make(auto(), initial: nil)
    }

    /// Makes parameters of a stack.
    public init(@ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)) {
        parameters = Self.make(builder(), initial: nil)
    }

    private init(parameters: NWParameters) {
        self.parameters = parameters
    }

    /// - Parameter stack: An element, or a tuple of several. Packs cannot be taken out of a tuple that holds something else
    ///   as well, so its elements are looked at from outside.
    private static func make(_ stack: Any, initial: NWParameters?) -> NWParameters {
        if let top = stack as? Top { return NWParameters(top: top, initial: initial) }
        let elements = Mirror(reflecting: stack).children.map { child in
            (child.value as? any NetworkProtocolOptions)?.stackElement ?? UnknownElement()
        }
        let top = elements.first ?? UnknownElement()
        return NWParameters(top: top, others: Array(elements.dropFirst()), initial: initial)
    }

    /// Makes parameters of a stack.
    public static func parameters(
        @ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)
    ) -> NWParametersBuilder<Top, repeat each P> {
        NWParametersBuilder(parameters: make(builder(), initial: nil))
    }

    /// Makes parameters of a stack, with everything else as in given parameters.
    public static func parameters(
        initialParameters: NWParameters, @ProtocolStackBuilder<Top, repeat each P> _ builder: () -> (Top, repeat each P)
    ) -> NWParametersBuilder<Top, repeat each P> {
        NWParametersBuilder(parameters: make(builder(), initial: initialParameters))
    }
}
