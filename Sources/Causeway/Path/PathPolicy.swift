package import CausewayProtocols
package import CausewayTypes

/// Which interfaces a path may use.
package enum PathPolicy: Equatable, Sendable {
    /// Any but loopback.
    case any
    /// Those of one type only.
    case only(NWInterface.InterfaceType)
    /// Any but loopback and those of some types.
    case excluding([NWInterface.InterfaceType])
    /// Those that carry Ethernet frames, whether or not a route leads over them.
    case ethernet
}

extension NWPath {
    /// The way to the network at large: over the interfaces that lead everywhere, the preferred one first.
    package init(_ model: NetworkModel, policy: PathPolicy) {
        var constraints = PathConstraints()
        switch policy {
        case .any: self.init(model.path(constraints))
        case .only(.loopback):
            // Nothing leads away over loopback.
            self.init(model.path(over: model.interfaces.filter { $0.isCarrying && $0.isLoopback }, []))
        case .only(let type):
            constraints.requiredType = type
            self.init(model.path(constraints))
        case .excluding(let types):
            constraints.prohibitedTypes = types
            self.init(model.path(constraints))
        case .ethernet:
            let types: [NWInterface.InterfaceType] = [.wiredEthernet, .wifi]
            let carriers = model.interfaces.filter { $0.isCarrying && types.contains($0.interface.type) }
            let ways = model.waysToEverywhere(constraints).filter { types.contains($0.interface.type) }
            self.init(model.path(over: carriers, ways))
        }
    }
}
