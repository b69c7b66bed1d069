extension NWParameters {
    /// The only interface to use. Default `nil`: any interface.
    ///
    /// If there is no route over this interface, a connection waits with `.posix(.ENETDOWN)`.
    public var requiredInterface: NWInterface? {
        get { storage.withLock { $0.paths.requiredInterface } }
        set { storage.withLock { $0.paths.requiredInterface = newValue } }
    }

    /// The only type of interface to use. Default `.other`: any type.
    public var requiredInterfaceType: NWInterface.InterfaceType {
        get { storage.withLock { $0.paths.requiredType } }
        set { storage.withLock { $0.paths.requiredType = newValue } }
    }

    /// Interfaces that must not be used. Default `nil`: none.
    public var prohibitedInterfaces: [NWInterface]? {
        get { storage.withLock { $0.paths.prohibitedInterfaces } }
        set { storage.withLock { $0.paths.prohibitedInterfaces = newValue } }
    }

    /// Types of interfaces that must not be used. Default `nil`: none.
    public var prohibitedInterfaceTypes: [NWInterface.InterfaceType]? {
        get { storage.withLock { $0.paths.prohibitedTypes } }
        set { storage.withLock { $0.paths.prohibitedTypes = newValue } }
    }

    /// Whether metered interfaces must not be used. Default `false`.
    public var prohibitExpensivePaths: Bool {
        get { storage.withLock { $0.paths.prohibitsExpensive } }
        set { storage.withLock { $0.paths.prohibitsExpensive = newValue } }
    }

    /// Whether interfaces in Low Data Mode must not be used. Default `false`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var prohibitConstrainedPaths: Bool {
        get { storage.withLock { $0.paths.prohibitsConstrained } }
        set { storage.withLock { $0.paths.prohibitsConstrained = newValue } }
    }

    /// Whether links with very low bandwidth, such as satellite links, may be used. Default `false`.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var allowUltraConstrainedPaths: Bool {
        get { storage.withLock { $0.paths.allowsUltraConstrained } }
        set { storage.withLock { $0.paths.allowsUltraConstrained = newValue } }
    }

    /// Whether the connection carries only HTTP/1.1 requests for `http` URLs, which an HTTP proxy forwards without a tunnel.
    package var forwardsRequests: Bool {
        get { storage.withLock { $0.proxies.forwardsRequests } }
        set { storage.withLock { $0.proxies.forwardsRequests = newValue } }
    }

    /// Whether to try a direct connection before any proxy. Default `false`.
    public var preferNoProxies: Bool {
        get { storage.withLock { $0.proxies.preferNone } }
        set { storage.withLock { $0.proxies.preferNone = newValue } }
    }

    /// The local address and port. Default `nil`: the system chooses.
    public var requiredLocalEndpoint: NWEndpoint? {
        get { storage.withLock { $0.local.endpoint } }
        set { storage.withLock { $0.local.endpoint = newValue } }
    }

    /// Whether to allow a local endpoint that is in use or was in use recently. Default `false`.
    ///
    /// The value `true` sets the socket options `SO_REUSEADDR` and `SO_REUSEPORT`. For an IPv4 multicast group, the
    /// socket gets `SO_REUSEPORT` only if binding fails without this option. With `SO_REUSEPORT`, the kernel may
    /// deliver a packet to a socket that has not joined the packet's group.
    public var allowLocalEndpointReuse: Bool {
        get { storage.withLock { $0.local.allowsReuse } }
        set { storage.withLock { $0.local.allowsReuse = newValue } }
    }

    /// Whether a listener accepts only peers on the local link. Default `false`.
    public var acceptLocalOnly: Bool {
        get { storage.withLock { $0.acceptLocalOnly } }
        set { storage.withLock { $0.acceptLocalOnly = newValue } }
    }

    /// Whether to also use peer-to-peer Wi-Fi. Default `false`. No effect: Linux has no AWDL.
    public var includePeerToPeer: Bool {
        get { storage.withLock { $0.includePeerToPeer } }
        set { storage.withLock { $0.includePeerToPeer = newValue } }
    }

    /// Whether to accept only validated DNS answers (RFC 4035 §4.3). Default `false`. The resolver does not validate: connections and
    /// listeners with `true` fail with `.posix(.ENOTSUP)`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    public var requiresDNSSECValidation: Bool {
        get { storage.withLock { $0.names.requiresDNSSECValidation } }
        set { storage.withLock { $0.names.requiresDNSSECValidation = newValue } }
    }

    /// The kind of traffic. Default `.bestEffort`.
    public var serviceClass: NWParameters.ServiceClass {
        get { storage.withLock { $0.serviceClass } }
        set { storage.withLock { $0.serviceClass = newValue } }
    }

    /// How Multipath TCP uses additional paths. Default `.disabled`.
    public var multipathServiceType: NWParameters.MultipathServiceType {
        get { storage.withLock { $0.multipathServiceType } }
        set { storage.withLock { $0.multipathServiceType = newValue } }
    }

    /// Whether content marked ``NWConnection/SendCompletion/idempotent`` may be sent before the connection is ready.
    /// Default `false`.
    ///
    /// If `true`, a TCP client does not connect until the program sends the first content. The connection cannot become
    /// ready before that. If the first content is marked as idempotent, it is sent in the SYN (RFC 7413). With TLS 1.3,
    /// it can also be sent together with the handshake of a resumed session (RFC 8446 §2.3). The kernel and the peer
    /// must allow this. The peer may receive such content twice.
    ///
    /// On a listener, the property permits clients to send content in this way. The listener may then receive such
    /// content twice.
    public var allowFastOpen: Bool {
        get { storage.withLock { $0.allowFastOpen } }
        set { storage.withLock { $0.allowFastOpen = newValue } }
    }

    /// Whether expired DNS answers may be used. Default `.systemDefault`.
    public var expiredDNSBehavior: NWParameters.ExpiredDNSBehavior {
        get { storage.withLock { $0.names.expiredDNSBehavior } }
        set { storage.withLock { $0.names.expiredDNSBehavior = newValue } }
    }

    /// Whether the program or its user chose the destination. Default `.developer`. No effect: Linux has no privacy report.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var attribution: NWParameters.Attribution {
        get { storage.withLock { $0.attribution } }
        set { storage.withLock { $0.attribution = newValue } }
    }
}
