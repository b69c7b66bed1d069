/// A type with parameters that a chain of method calls can change.
///
/// Each method sets the ``NWParameters`` property with its name and returns the receiver.
///
/// Counterpart: macOS 26, iOS 26.
public protocol NWParametersProvider {
    /// The parameters that the methods change.
    var parameters: NWParameters { get }

    /// Sets ``NWParameters/requiredInterface``.
    func requiredInterface(_ interface: NWInterface) -> Self
    /// Sets ``NWParameters/requiredInterfaceType``.
    func requiredInterfaceType(_ type: NWInterface.InterfaceType) -> Self
    /// Sets ``NWParameters/prohibitedInterfaces``.
    func prohibitedInterfaces(_ interfaces: [NWInterface]) -> Self
    /// Sets ``NWParameters/prohibitedInterfaceTypes``.
    func prohibitedInterfaceTypes(_ types: [NWInterface.InterfaceType]) -> Self
    /// Sets ``NWParameters/prohibitExpensivePaths``.
    func expensivePathsProhibited(_ prohibited: Bool) -> Self
    /// Sets ``NWParameters/prohibitConstrainedPaths``.
    func constrainedPathsProhibited(_ prohibited: Bool) -> Self
    /// Sets ``NWParameters/preferNoProxies``.
    func noProxiesPreferred(_ preferred: Bool) -> Self
    /// Sets ``NWParameters/requiredLocalEndpoint``.
    func localEndpoint(_ endpoint: NWEndpoint?) -> Self
    /// Sets ``NWParameters/requiredLocalEndpoint`` to a port on any address.
    func localPort(_ port: NWEndpoint.Port) -> Self
    /// Sets ``NWParameters/allowLocalEndpointReuse``.
    func localEndpointReuseAllowed(_ allowed: Bool) -> Self
    /// Sets ``NWParameters/acceptLocalOnly``.
    func localOnly(_ local: Bool) -> Self
    /// Sets ``NWParameters/includePeerToPeer``. This setting has no effect.
    func peerToPeerIncluded(_ included: Bool) -> Self
    /// Sets ``NWParameters/requiresDNSSECValidation``. With `true`, connections and listeners fail with `.posix(.ENOTSUP)`.
    func dnssecValidationRequired(_ required: Bool) -> Self
    /// Sets ``NWParameters/serviceClass-swift.property``.
    func serviceClass(_ serviceClass: NWParameters.ServiceClass) -> Self
    /// Sets ``NWParameters/multipathServiceType-swift.property``.
    func multipathServiceType(_ type: NWParameters.MultipathServiceType) -> Self
    /// Sets ``NWParameters/allowFastOpen``.
    func fastOpenAllowed(_ allowed: Bool) -> Self
    /// Sets ``NWParameters/expiredDNSBehavior-swift.property``.
    func expiredDNSBehavior(_ behavior: NWParameters.ExpiredDNSBehavior) -> Self
    /// Sets ``NWParameters/allowUltraConstrainedPaths``.
    func ultraConstrainedPathsAllowed(_ allowed: Bool) -> Self
}

extension NWParametersProvider {
    private func setting(_ change: (NWParameters) -> Void) -> Self {
        change(parameters)
        return self
    }

    /// Sets ``NWParameters/requiredInterface``.
    public func requiredInterface(_ interface: NWInterface) -> Self {
        setting { $0.requiredInterface = interface }
    }

    /// Sets ``NWParameters/requiredInterfaceType``.
    public func requiredInterfaceType(_ type: NWInterface.InterfaceType) -> Self {
        setting { $0.requiredInterfaceType = type }
    }

    /// Sets ``NWParameters/prohibitedInterfaces``.
    public func prohibitedInterfaces(_ interfaces: [NWInterface]) -> Self {
        setting { $0.prohibitedInterfaces = interfaces }
    }

    /// Sets ``NWParameters/prohibitedInterfaceTypes``.
    public func prohibitedInterfaceTypes(_ types: [NWInterface.InterfaceType]) -> Self {
        setting { $0.prohibitedInterfaceTypes = types }
    }

    /// Sets ``NWParameters/prohibitExpensivePaths``.
    public func expensivePathsProhibited(_ prohibited: Bool) -> Self {
        setting { $0.prohibitExpensivePaths = prohibited }
    }

    /// Sets ``NWParameters/prohibitConstrainedPaths``.
    public func constrainedPathsProhibited(_ prohibited: Bool) -> Self {
        setting { $0.prohibitConstrainedPaths = prohibited }
    }

    /// Sets ``NWParameters/preferNoProxies``.
    public func noProxiesPreferred(_ preferred: Bool) -> Self {
        setting { $0.preferNoProxies = preferred }
    }

    /// Sets ``NWParameters/requiredLocalEndpoint``.
    public func localEndpoint(_ endpoint: NWEndpoint?) -> Self {
        setting { $0.requiredLocalEndpoint = endpoint }
    }

    /// Sets ``NWParameters/requiredLocalEndpoint`` to a port on any address.
    public func localPort(_ port: NWEndpoint.Port) -> Self {
        setting { $0.requiredLocalEndpoint = .hostPort(host: .ipv6(.any), port: port) }
    }

    /// Sets ``NWParameters/allowLocalEndpointReuse``.
    public func localEndpointReuseAllowed(_ allowed: Bool) -> Self {
        setting { $0.allowLocalEndpointReuse = allowed }
    }

    /// Sets ``NWParameters/acceptLocalOnly``.
    public func localOnly(_ local: Bool) -> Self {
        setting { $0.acceptLocalOnly = local }
    }

    /// Sets ``NWParameters/includePeerToPeer``. This setting has no effect.
    public func peerToPeerIncluded(_ included: Bool) -> Self {
        setting { $0.includePeerToPeer = included }
    }

    /// Sets ``NWParameters/requiresDNSSECValidation``. With `true`, connections and listeners fail with `.posix(.ENOTSUP)`.
    public func dnssecValidationRequired(_ required: Bool) -> Self {
        setting { $0.requiresDNSSECValidation = required }
    }

    /// Sets ``NWParameters/serviceClass-swift.property``.
    public func serviceClass(_ serviceClass: NWParameters.ServiceClass) -> Self {
        setting { $0.serviceClass = serviceClass }
    }

    /// Sets ``NWParameters/multipathServiceType-swift.property``.
    public func multipathServiceType(_ type: NWParameters.MultipathServiceType) -> Self {
        setting { $0.multipathServiceType = type }
    }

    /// Sets ``NWParameters/allowFastOpen``.
    public func fastOpenAllowed(_ allowed: Bool) -> Self {
        setting { $0.allowFastOpen = allowed }
    }

    /// Sets ``NWParameters/expiredDNSBehavior-swift.property``.
    public func expiredDNSBehavior(_ behavior: NWParameters.ExpiredDNSBehavior) -> Self {
        setting { $0.expiredDNSBehavior = behavior }
    }

    /// Sets ``NWParameters/allowUltraConstrainedPaths``.
    public func ultraConstrainedPathsAllowed(_ allowed: Bool) -> Self {
        setting { $0.allowUltraConstrainedPaths = allowed }
    }
}
