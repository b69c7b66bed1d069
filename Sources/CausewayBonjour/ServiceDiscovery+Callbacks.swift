public import Causeway
public import Dispatch

// The same operations for programs without tasks. Each handler is called on its queue, one call at a time, and is told whether more
// is there already: a list on the screen is drawn when nothing more comes.
extension ServiceDiscovery {
    /// What handlers are given: news or the failure that ended the operation, and whether more news follow at once.
    public typealias Handler<News: Sendable> = @Sendable (Result<News, NWError>, _ moreComing: Bool) -> Void

    /// Follows which services of a type there are. See ``browse(_:domain:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a type or domain that cannot be.
    public static func browse(
        _ type: String, domain: String = "local.", interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<Identity>>
    ) throws -> Operation {
        try services(type, domain, interface).calls(on: queue, handler)
    }

    /// Follows where a service is. See ``resolve(_:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an identity that cannot be.
    public static func resolve(
        _ identity: Identity, queue: DispatchQueue, _ handler: @escaping Handler<Place>
    ) throws -> Operation {
        try places(identity).calls(on: queue, handler)
    }

    /// Follows the records of a name. See ``records(of:type:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name or type that cannot be.
    public static func records(
        of name: String, type: String, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<Record>>
    ) throws -> Operation {
        try found(name, type, interface).calls(on: queue, handler)
    }

    /// Follows the addresses of a host. See ``addresses(of:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name that cannot be.
    public static func addresses(
        of host: String, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<NWEndpoint.Host>>
    ) throws -> Operation {
        try hosts(host, interface).calls(on: queue, handler)
    }

    /// Follows the domains of a network. See ``domains(_:of:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a domain that cannot be.
    public static func domains(
        _ kind: DomainKind, of domain: String, queue: DispatchQueue, _ handler: @escaping Handler<Change<String>>
    ) throws -> Operation {
        try recommended(kind, domain).calls(on: queue, handler)
    }

    /// Advertises a service until it is withdrawn, or nobody holds what is returned any more. See
    /// ``register(_:type:port:text:mayRename:interface:)``.
    ///
    /// - Parameter handler: Told the identity that the service has got, again when that changes later, and the failure that ends it.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name or type that cannot be.
    public static func register(
        _ name: String = "", type: String, port: NWEndpoint.Port, text: NWTXTRecord = NWTXTRecord(),
        mayRename: Bool = true, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping @Sendable (Result<Identity, NWError>) -> Void
    ) throws -> Registration {
        let service = try description(name, type, port, text, mayRename, interface)
        return Registration(service, type: type) { result in queue.async { handler(result) } }
    }

    /// Publishes a record of any type on the link. See ``register(record:type:content:timeToLive:isUnique:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name, type or content that cannot be.
    public static func register(
        record name: String, type: String, content: [UInt8], timeToLive: Int = 4_500, isUnique: Bool = true,
        interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping @Sendable (Result<Identity, NWError>) -> Void
    ) throws -> Registration {
        let record = try description(record: name, type, content, timeToLive, isUnique, interface)
        return Registration(record, type: type) { result in queue.async { handler(result) } }
    }
}
