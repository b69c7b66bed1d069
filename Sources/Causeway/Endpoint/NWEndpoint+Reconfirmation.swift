internal import CausewayRuntime
internal import CausewayWire

extension NWEndpoint {
    /// Reconfirms a service in `local` that cannot be reached: browsers remove it after ten seconds unless its host
    /// announces it again (RFC 6762 §10.4). No effect for other endpoints.
    package func reconfirm() {
        guard case .service(let name, let type, let domain, _) = self,
            let (kind, place) = try? Self.serviceDomain(type, domain), place == .local,
            let list = kind.name.appending(place), let instance = DNSName(name, in: list)
        else { return }
        BonjourEngine.shared.reconfirm(instance, of: list)
    }
}
