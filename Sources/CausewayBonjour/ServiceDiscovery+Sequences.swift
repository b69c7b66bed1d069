public import Causeway

extension ServiceDiscovery {
    /// Follows which services of a type there are.
    ///
    /// - Parameters:
    ///   - type: Such as `_http._tcp`; with a subtype, `_ipp._tcp,_color`.
    ///   - domain: The link's, or one of name servers (RFC 6763 §11).
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a type or domain that cannot be.
    public static func browse(
        _ type: String, domain: String = "local.", interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<Identity>, any Error> {
        try services(type, domain, interface).sequence()
    }

    /// Follows where a service is: reported when its host, port, addresses and TXT record are known, and again when they change. One
    /// outside `local` is looked up by the host's name servers (RFC 6763 §11).
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an identity that cannot be; the sequence throws where no name server answers.
    public static func resolve(_ identity: Identity) throws -> AsyncThrowingStream<Place, any Error> {
        try places(identity).sequence()
    }

    /// Follows the records of a name.
    ///
    /// - Parameters:
    ///   - name: In presentation form.
    ///   - type: Such as `A`, `TXT`, `ANY` or `TYPE65400`.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name or type that cannot be.
    public static func records(
        of name: String, type: String, interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<Record>, any Error> {
        try found(name, type, interface).sequence()
    }

    /// Follows the addresses of a host, of both families. Link-local ones of IPv6 have their interface.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name that cannot be.
    public static func addresses(
        of host: String, interface: NWInterface? = nil
    ) throws -> AsyncThrowingStream<Change<NWEndpoint.Host>, any Error> {
        try hosts(host, interface).sequence()
    }

    /// Follows the domains in which the network wishes its users to look for services, or to register them (RFC 6763 §11).
    ///
    /// - Parameter domain: Whose servers are asked, such as the host's own domain. `local.` is always among the domains to browse
    ///   and to register in.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a domain that cannot be.
    public static func domains(
        _ kind: DomainKind, of domain: String
    ) throws -> AsyncThrowingStream<Change<String>, any Error> {
        try recommended(kind, domain).sequence()
    }
}
