/// The options of a stack, as ``NWParameters/ProtocolStack`` keeps them.
package struct StackLayers: Sendable {
    /// The first one is nearest to the program.
    package var application: [NWProtocolOptions] = []
    package var transport: NWProtocolOptions?
    package var internet: NWProtocolOptions?

    package init() {}

    /// The part of one element.
    package enum Layer: Sendable {
        case application(NWProtocolOptions)
        case transport(NWProtocolOptions)
        case internet(NWProtocolOptions)
    }

    /// Puts an element on top of what is there.
    package func topped(by layer: Layer) -> StackLayers {
        var layers = self
        switch layer {
        case .application(let options): layers.application.insert(options, at: 0)
        case .transport(let options): layers.transport = options
        case .internet(let options): layers.internet = options
        }
        return layers
    }

    /// Takes an element that is listed beside the top one: it replaces what the top one implies.
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

/// What every element of a stack knows of itself.
package protocol StackElement: NetworkProtocolOptions {
    /// Its own part of the stack.
    var layer: StackLayers.Layer { get }
    /// What it was given to stand on; `nil` for what it implies.
    var below: (any StackElement)? { get }
    /// What it stands on when it was given nothing.
    var impliedBelow: (any StackElement)? { get }
}

extension StackElement {
    package var impliedBelow: (any StackElement)? { nil }

    /// The whole stack with this element on top.
    package var layers: StackLayers {
        ((below ?? impliedBelow)?.layers ?? StackLayers()).topped(by: layer)
    }
}

extension NWParameters {
    /// Parameters with the stack of an element and what is listed beside it.
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
