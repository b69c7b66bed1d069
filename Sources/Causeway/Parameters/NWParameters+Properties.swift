extension NWParameters {
    /// The only interface to use. Default `nil`: any.
    ///
    /// Without a route over it, a connection waits with `.posix(.ENETDOWN)`.
    public var requiredInterface: NWInterface? {
        get { storage.withLock { $0.requiredInterface } }
        set { storage.withLock { $0.requiredInterface = newValue } }
    }

    /// The only type of interface to use. Default `.other`: any.
    public var requiredInterfaceType: NWInterface.InterfaceType {
        get { storage.withLock { $0.requiredInterfaceType } }
        set { storage.withLock { $0.requiredInterfaceType = newValue } }
    }

    /// Interfaces never to use. Default `nil`: none.
    public var prohibitedInterfaces: [NWInterface]? {
        get { storage.withLock { $0.prohibitedInterfaces } }
        set { storage.withLock { $0.prohibitedInterfaces = newValue } }
    }

    /// Types of interface never to use. Default `nil`: none.
    public var prohibitedInterfaceTypes: [NWInterface.InterfaceType]? {
        get { storage.withLock { $0.prohibitedInterfaceTypes } }
        set { storage.withLock { $0.prohibitedInterfaceTypes = newValue } }
    }

    /// Whether metered interfaces are never used. Default `false`.
    public var prohibitExpensivePaths: Bool {
        get { storage.withLock { $0.prohibitExpensivePaths } }
        set { storage.withLock { $0.prohibitExpensivePaths = newValue } }
    }

    /// Whether interfaces in low data mode are never used. Default `false`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var prohibitConstrainedPaths: Bool {
        get { storage.withLock { $0.prohibitConstrainedPaths } }
        set { storage.withLock { $0.prohibitConstrainedPaths = newValue } }
    }

    /// Whether links as narrow as a satellite's may be used. Default `false`.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var allowUltraConstrainedPaths: Bool {
        get { storage.withLock { $0.allowUltraConstrainedPaths } }
        set { storage.withLock { $0.allowUltraConstrainedPaths = newValue } }
    }

    /// Whether to connect directly first and over a proxy only if that fails. Default `false`.
    public var preferNoProxies: Bool {
        get { storage.withLock { $0.preferNoProxies } }
        set { storage.withLock { $0.preferNoProxies = newValue } }
    }

    /// The local address and port to use. Default `nil`: the system chooses.
    public var requiredLocalEndpoint: NWEndpoint? {
        get { storage.withLock { $0.requiredLocalEndpoint } }
        set { storage.withLock { $0.requiredLocalEndpoint = newValue } }
    }

    /// Whether a local endpoint may be used that others use or have just used. Default `false`.
    ///
    /// It sets `SO_REUSEADDR` and `SO_REUSEPORT`.
    public var allowLocalEndpointReuse: Bool {
        get { storage.withLock { $0.allowLocalEndpointReuse } }
        set { storage.withLock { $0.allowLocalEndpointReuse = newValue } }
    }

    /// Whether a listener accepts peers on the local link only. Default `false`.
    public var acceptLocalOnly: Bool {
        get { storage.withLock { $0.acceptLocalOnly } }
        set { storage.withLock { $0.acceptLocalOnly = newValue } }
    }

    /// Whether to use peer-to-peer Wi-Fi as well. Default `false`.
    public var includePeerToPeer: Bool {
        get { storage.withLock { $0.includePeerToPeer } }
        set { storage.withLock { $0.includePeerToPeer = newValue } }
    }

    /// Whether only validated DNS answers are used (RFC 4035 §4.3). Default `false`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public var requiresDNSSECValidation: Bool {
        get { storage.withLock { $0.requiresDNSSECValidation } }
        set { storage.withLock { $0.requiresDNSSECValidation = newValue } }
    }

    /// What kind of traffic it is. Default `.bestEffort`.
    public var serviceClass: NWParameters.ServiceClass {
        get { storage.withLock { $0.serviceClass } }
        set { storage.withLock { $0.serviceClass = newValue } }
    }

    /// When Multipath TCP uses a second path. Default `.disabled`.
    public var multipathServiceType: NWParameters.MultipathServiceType {
        get { storage.withLock { $0.multipathServiceType } }
        set { storage.withLock { $0.multipathServiceType = newValue } }
    }

    /// Whether content marked ``NWConnection/SendCompletion/idempotent`` may leave before the connection is ready. Default `false`.
    ///
    /// A client then connects when the first content is given to send, and is not ready before. What comes first and is marked goes
    /// into the SYN (RFC 7413), or with TLS 1.3 along with the handshake of a resumed session (RFC 8446 §2.3), where kernel and peer
    /// allow it: it may arrive twice. On a listener it allows the same to clients, so that what arrives may be a repetition.
    public var allowFastOpen: Bool {
        get { storage.withLock { $0.allowFastOpen } }
        set { storage.withLock { $0.allowFastOpen = newValue } }
    }

    /// Whether expired DNS answers may be used. Default `.systemDefault`.
    public var expiredDNSBehavior: NWParameters.ExpiredDNSBehavior {
        get { storage.withLock { $0.expiredDNSBehavior } }
        set { storage.withLock { $0.expiredDNSBehavior = newValue } }
    }

    /// Who chose the destination. Default `.developer`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var attribution: NWParameters.Attribution {
        get { storage.withLock { $0.attribution } }
        set { storage.withLock { $0.attribution = newValue } }
    }
}
