package import CausewayTypes
package import CausewayWire

/// What a program demands of the path of a connection.
package struct PathConstraints: Equatable, Sendable {
    package var requiredInterface: NWInterface?
    package var prohibitedInterfaces: [NWInterface] = []
    package var requiredType: NWInterface.InterfaceType?
    package var prohibitedTypes: [NWInterface.InterfaceType] = []
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = true
    /// `nil` for any.
    package var family: InternetAddress.Family?
    /// The address that the program chose; `nil` or unspecified when the kernel chooses.
    package var localAddress: InternetAddress?
    /// The transport protocol's number and the peer's port: rules of the system may ask.
    package var transport: UInt8 = 0
    package var port: UInt16 = 0

    package init() {}

    /// Whether some interfaces are excluded, so that a look at the network must come before the first packet.
    package var excludesInterfaces: Bool {
        !prohibitedInterfaces.isEmpty || !prohibitedTypes.isEmpty || requiredType != nil || prohibitsExpensive
            || prohibitsConstrained
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
