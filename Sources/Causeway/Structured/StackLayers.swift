/// The protocol options in a stack, in the order of ``NWParameters/ProtocolStack``.
package struct StackLayers: Sendable {
    /// The application protocols; the first one is nearest to the program.
    package var application: [NWProtocolOptions] = []
    package var transport: NWProtocolOptions?
    package var internet: NWProtocolOptions?

    package init() {}

    /// One element's options, with its layer.
    package enum Layer: Sendable {
        case application(NWProtocolOptions)
        case transport(NWProtocolOptions)
        case internet(NWProtocolOptions)
    }

    /// Returns the stack with an element added on top.
    package func topped(by layer: Layer) -> StackLayers {
        var layers = self
        switch layer {
        case .application(let options): layers.application.insert(options, at: 0)
        case .transport(let options): layers.transport = options
        case .internet(let options): layers.internet = options
        }
        return layers
    }

    /// Adds one element of a builder list, and then the elements below it. Call this for each element after the top
    /// element.
    ///
    /// A transport or network element replaces the current transport or network options. An application protocol
    /// replaces the application protocol with the same definition. If there is none, the new protocol is added below
    /// the other application protocols.
    package mutating func adopt(_ element: any StackElement) {
        switch element.layer {
        case .internet(let options): internet = options
        case .transport(let options):
            transport = options
            if let below = element.below { adopt(below) }
        case .application(let options):
            if let place = application.firstIndex(where: { $0.definition == options.definition }) {
                application[place] = options
            } else {
                application.append(options)
            }
            if let below = element.below { adopt(below) }
        }
    }
}

/// The properties common to all stack elements.
package protocol StackElement: NetworkProtocolOptions {
    /// The element's own options.
    var layer: StackLayers.Layer { get }
    /// The element directly below this one in the stack. It is the element that the program passed to the initializer;
    /// `nil` if the program passed none.
    var below: (any StackElement)? { get }
    /// The default element below this element, used if ``below`` is `nil`.
    var impliedBelow: (any StackElement)? { get }
}

extension StackElement {
    package var impliedBelow: (any StackElement)? { nil }

    /// The whole stack, with this element on top.
    package var layers: StackLayers {
        ((below ?? impliedBelow)?.layers ?? StackLayers()).topped(by: layer)
    }
}

extension NWParameters {
    /// Creates parameters from the elements of a protocol stack. `top` is the uppermost element, and `others` contains
    /// the elements that the program listed after it. All other settings are copied from `initial`.
    package convenience init(
        top: any NetworkProtocolOptions, others: [any NetworkProtocolOptions] = [], initial: NWParameters? = nil
    ) {
        var layers = top.stackElement.layers
        for other in others { layers.adopt(other.stackElement) }
        let stack = ProtocolStack(
            application: layers.application, transport: layers.transport, internet: layers.internet)
        self.init(stack: stack, values: initial?.values ?? Values())
    }
}
