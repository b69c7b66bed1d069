internal import CausewayBonjourProtocols
internal import CausewaySystem
package import CausewayWire

extension BonjourEngine {
    /// Returns a service's records on a link. A service with its own host name also gets address records for that name.
    func records(of service: ServiceDescription, on link: LinkDriver) -> RecordSet {
        let records = service.records(on: hostName)
        guard let host = service.ownHost else { return records }
        return RecordSet(records.records + link.addressRecords(of: host))
    }

    /// Updates services that have their own host names. Called after this host's addresses on the link have changed.
    func updateOwnHosts(on link: LinkDriver) {
        for (id, advertising) in state.value.advertising
        where advertising.service.ownHost != nil && advertising.concerns(link) {
            link.machine.update(id, records(of: advertising.service, on: link), at: System.now)
        }
    }

    /// Requests a new check of an unreachable service instance. The instance is removed after ten seconds unless a host
    /// confirms it (RFC 6762 §10.4).
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
