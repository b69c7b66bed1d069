internal import CausewayBonjourProtocols
internal import CausewaySystem
package import CausewayWire

extension BonjourEngine {
    /// The records of a service on a link. A service with its own host name brings the addresses along.
    func records(of service: ServiceDescription, on link: LinkDriver) -> RecordSet {
        let records = service.records(on: hostName)
        guard let host = service.ownHost else { return records }
        return RecordSet(records.records + link.addressRecords(of: host))
    }

    /// The addresses of the host on this link changed.
    func updateOwnHosts(on link: LinkDriver) {
        for (id, advertising) in state.value.advertising
        where advertising.service.ownHost != nil && advertising.concerns(link) {
            link.machine.update(id, records(of: advertising.service, on: link), at: System.now)
        }
    }

    /// Requests a new check of a service instance that cannot be reached. It is removed after ten seconds unless a host confirms it
    /// (RFC 6762 §10.4).
    ///
    /// - Parameter type: The service type with its domain.
    package func reconfirm(_ instance: DNSName, of type: DNSName) {
        let pointer = DNSRecord(type, .ptr, timeToLive: 0, .name(instance))
        loop.execute {
            for link in self.state.value.links.values { link.machine.reconfirm(pointer, at: System.now) }
            self.settle()
        }
    }
}
