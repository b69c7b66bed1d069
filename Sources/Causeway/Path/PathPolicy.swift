package import CausewayProtocols
package import CausewayTypes

/// The interfaces permitted for a path.
package enum PathPolicy: Equatable, Sendable {
    /// All interfaces except loopback.
    case any
    /// One interface type.
    case only(NWInterface.InterfaceType)
    /// All interfaces except loopback and the given types.
    case excluding([NWInterface.InterfaceType])
    /// Wired Ethernet and Wi-Fi interfaces, with or without a route.
    case ethernet
}

extension NWPath {
    /// Creates the path to the network in general. It lists the interfaces with a default route, most preferred first.
    /// If there is no default route, it lists the interfaces with an address.
    package init(_ model: NetworkModel, policy: PathPolicy) {
        var constraints = PathConstraints()
        switch policy {
        case .any: self.init(model, constraints)
        case .only(.loopback):
            // List the loopback interface without a default route. Default routes never use this interface.
            self.init(model.path(over: model.interfaces.filter { $0.isCarrying && $0.isLoopback }, []))
        case .only(let type):
            constraints.requiredType = type
            self.init(model, constraints)
        case .excluding(let types):
            constraints.prohibitedTypes = types
            self.init(model, constraints)
        case .ethernet:
            let types: [NWInterface.InterfaceType] = [.wiredEthernet, .wifi]
            let carriers = model.interfaces.filter { $0.isCarrying && types.contains($0.interface.type) }
            let ways = model.waysToEverywhere(constraints).filter { types.contains($0.interface.type) }
            self.init(model.path(over: carriers, ways))
        }
    }

    private init(_ model: NetworkModel, _ constraints: PathConstraints) {
        let path = model.path(constraints)
        self.init(path, idleInterfaces: path.isSatisfied ? [] : model.linkedInterfaces(constraints))
    }
}
