package import CausewayTypes
package import CausewayWire

/// A program's requirements for a connection's path.
package struct PathConstraints: Equatable, Sendable {
    package var requiredInterface: NWInterface?
    package var prohibitedInterfaces: [NWInterface] = []
    package var requiredType: NWInterface.InterfaceType?
    package var prohibitedTypes: [NWInterface.InterfaceType] = []
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = true
    /// The required address family; `nil` if both families are permitted.
    package var family: InternetAddress.Family?
    /// The local address that the program has chosen. If it is `nil` or unspecified, the kernel chooses the address.
    package var localAddress: InternetAddress?
    /// The transport protocol number and the peer's port. Routing rules can match both.
    package var transport: UInt8 = 0
    package var port: UInt16 = 0

    package init() {}

    /// Whether the constraints may exclude some interfaces, for example expensive ones. If so, check that an interface
    /// is permitted before the first packet is sent over it.
    package var excludesInterfaces: Bool {
        !prohibitedInterfaces.isEmpty || !prohibitedTypes.isEmpty || requiredType != nil || prohibitsExpensive
            || prohibitsConstrained || !allowsUltraConstrained
    }

    package func permits(_ interface: NetworkModel.Interface) -> Bool {
        if let requiredInterface, requiredInterface.index != interface.index { return false }
        if let requiredType, requiredType != interface.interface.type { return false }
        if prohibitedInterfaces.contains(where: { $0.index == interface.index }) { return false }
        if prohibitedTypes.contains(interface.interface.type) { return false }
        if prohibitsExpensive, interface.isExpensive { return false }
        if prohibitsConstrained, interface.isConstrained { return false }
        return allowsUltraConstrained || !interface.isUltraConstrained
    }

    func question(to destination: InternetAddress) -> RouteQuestion {
        var question = RouteQuestion(to: destination, over: requiredInterface?.index)
        if let localAddress, !localAddress.isUnspecified, localAddress.family == destination.family {
            question.source = localAddress.unscoped
        }
        (question.transport, question.port) = (transport, port)
        return question
    }
}

extension NetworkModel {
    /// Returns the indices of the permitted interfaces, for traffic that stays on a link and needs no route.
    ///
    /// The required and the prohibited interfaces are compared by name, because an interface that was removed and
    /// created again has another index.
    package func permittedIndices(_ constraints: PathConstraints) -> Set<Int> {
        var properties = constraints
        (properties.requiredInterface, properties.prohibitedInterfaces) = (nil, [])
        let permitted = interfaces.filter { known in
            let name = known.interface.name
            if let required = constraints.requiredInterface, required.name != name { return false }
            return properties.permits(known) && !constraints.prohibitedInterfaces.contains { $0.name == name }
        }
        return Set(permitted.map(\.index))
    }
}
