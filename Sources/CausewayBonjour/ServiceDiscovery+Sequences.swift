public import Causeway

extension ServiceDiscovery {
    /// Browses for services of a type and follows changes. A service on several interfaces is added once, and removed
    /// when no interface has it any more.
    ///
    /// - Parameters:
    ///   - type: The type, such as `_http._tcp`; with a subtype, `_ipp._tcp,_color`.
    ///   - domain: The link's domain `local.`, or a unicast domain (RFC 6763 §11).
    ///   - interface: The interface to browse on; `nil` for all.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid type or domain.
    public static func browse(
        _ type: String, domain: String = "local.", interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<Identity>, any Error> {
        try services(type, domain, interface).sequence()
    }

    /// Resolves a service and follows changes: yields a value when host, port, addresses and TXT record have been found, and again when
    /// they change. Services outside `local` are looked up with the host's name servers (RFC 6763 §11).
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid identity. The sequence throws if no name server answers.
    public static func resolve(_ identity: Identity) throws -> AsyncThrowingStream<Place, any Error> {
        try places(identity).sequence()
    }

    /// Queries the records of a name and follows changes.
    ///
    /// - Parameters:
    ///   - name: The name in presentation format.
    ///   - type: The record type, such as `A`, `TXT`, `ANY` or `TYPE65400`.
    ///   - interface: The interface to query on; `nil` for all.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name or type.
    public static func records(
        of name: String, type: String, interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<Record>, any Error> {
        try found(name, type, interface).sequence()
    }

    /// Queries the IPv4 and IPv6 addresses of a host and follows changes. Link-local IPv6 addresses include their
    /// interface. Any other address that several interfaces report is added once, and removed when no interface reports
    /// it any more.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name.
    public static func addresses(
        of host: String, interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<NWEndpoint.Host>, any Error> {
        try hosts(host, interface).sequence()
    }

    /// Queries the network's recommended domains for browsing or registration, and follows changes (RFC 6763 §11).
    ///
    /// - Parameters:
    ///   - kind: The kind of domains to query.
    ///   - domain: The domain whose servers to query, such as the host's own domain. `local.` is always among the browsing and registration
    ///     domains.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid domain.
    public static func domains(
        _ kind: DomainKind, of domain: String
    ) throws -> AsyncThrowingStream<Change<String>, any Error> {
        try recommended(kind, domain).sequence()
    }
}
