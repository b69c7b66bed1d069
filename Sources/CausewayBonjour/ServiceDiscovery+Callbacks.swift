public import Causeway
public import Dispatch

// Discovery operations with callbacks, for programs that do not use tasks. Each handler is called on its queue, one
// call at a time. A flag tells whether more events are already available. Update a displayed list only when the flag is
// false.
extension ServiceDiscovery {
    /// Receives an event, or the failure that ended the operation. `moreComing` is true if another event follows
    /// immediately.
    public typealias Handler<Event: Sendable> = @Sendable (Result<Event, NWError>, _ moreComing: Bool) -> Void

    /// Browses for services of a type. See ``browse(_:domain:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid type or domain.
    public static func browse(
        _ type: String, domain: String = "local.", interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<Identity>>
    ) throws -> Operation {
        try services(type, domain, interface).calls(on: queue, handler)
    }

    /// Resolves a service and follows changes. See ``resolve(_:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid identity.
    public static func resolve(
        _ identity: Identity, queue: DispatchQueue, _ handler: @escaping Handler<Place>
    ) throws -> Operation {
        try places(identity).calls(on: queue, handler)
    }

    /// Queries the records of a name and follows changes. See ``records(of:type:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name or type.
    public static func records(
        of name: String, type: String, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<Record>>
    ) throws -> Operation {
        try found(name, type, interface).calls(on: queue, handler)
    }

    /// Queries the addresses of a host and follows changes. See ``addresses(of:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name.
    public static func addresses(
        of host: String, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping Handler<Change<NWEndpoint.Host>>
    ) throws -> Operation {
        try hosts(host, interface).calls(on: queue, handler)
    }

    /// Queries the browsing or registration domains and follows changes. See ``domains(_:of:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid domain.
    public static func domains(
        _ kind: DomainKind, of domain: String, queue: DispatchQueue, _ handler: @escaping Handler<Change<String>>
    ) throws -> Operation {
        try recommended(kind, domain).calls(on: queue, handler)
    }

    /// Advertises a service until it is withdrawn or the returned value is released. See
    /// ``register(_:type:domain:port:text:mayRename:interface:)``.
    ///
    /// - Parameters:
    ///   - name: Any text; empty for the host's name.
    ///   - type: The type, such as `_http._tcp`; with subtypes, `_ipp._tcp,_color`.
    ///   - domain: The link's domain `local.`, or empty. Other domains are not supported, because this library does not
    ///     send DNS updates to name servers (RFC 2136).
    ///   - port: The port on which the program accepts connections.
    ///   - text: The service's TXT record.
    ///   - mayRename: Whether to append a number to the name if another host uses it. If `false`, the registration
    ///     fails.
    ///   - interface: The interface to advertise on; `nil` for all.
    ///   - queue: The queue on which the handler is called.
    ///   - handler: Called with the registered identity, called again if the identity changes later, and called with
    ///     the failure that ends the registration.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name, type or domain, `.posix(.ENOTSUP)` for a domain
    ///   other than `local.`.
    public static func register(
        _ name: String = "", type: String, domain: String = "local.", port: NWEndpoint.Port,
        text: NWTXTRecord = NWTXTRecord(), mayRename: Bool = true, interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping @Sendable (Result<Identity, NWError>) -> Void
    ) throws -> Registration {
        let service = try description(name, type, domain, port, text, mayRename, interface)
        return Registration(service, type: type) { result in queue.async { handler(result) } }
    }

    /// Publishes a record of any type on the link. See ``register(record:type:content:timeToLive:isUnique:interface:)``.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name, type or content, `.posix(.ENOTSUP)` for a name outside `local`.
    public static func register(
        record name: String, type: String, content: [UInt8], timeToLive: Int = 4_500, isUnique: Bool = true,
        interface: NWInterface? = nil, queue: DispatchQueue,
        _ handler: @escaping @Sendable (Result<Identity, NWError>) -> Void
    ) throws -> Registration {
        let record = try description(record: name, type, content, timeToLive, isUnique, interface)
        return Registration(record, type: type) { result in queue.async { handler(result) } }
    }
}
