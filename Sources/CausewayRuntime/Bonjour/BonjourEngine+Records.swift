package import CausewayBonjourProtocols
internal import CausewaySystem
package import CausewayWire

extension BonjourEngine {
    /// Registers arbitrary records on one interface until ``withdraw(_:_:)`` is called. The records form one
    /// registration. Only one host on the link may have a unique record. The unique records in the registration are
    /// probed together.
    ///
    /// - Parameter loss: Called with the conflicting name if another host already uses one of the names. All records
    ///   are then withdrawn.
    package func answer(
        _ records: [DNSRecord], on interfaceIndex: Int, _ handler: @escaping @Sendable (ServiceEvent) -> Void,
        loss: @escaping @Sendable (DNSName) -> Void
    ) -> RegistrationID {
        let id = RegistrationID(rawValue: nextNumber())
        let service = ServiceDescription(records: records, interfaceIndex: interfaceIndex)
        loop.execute {
            self.state.value.losses[id] = loss
            self.begin(Advertising(service: service, handler: handler), id)
        }
        return id
    }

    /// Replaces a registration's records.
    package func update(_ id: RegistrationID, _ records: [DNSRecord]) {
        loop.execute {
            guard let advertising = self.state.value.advertising[id] else { return }
            self.state.value.advertising[id]?.service = ServiceDescription(
                records: records, interfaceIndex: advertising.service.interfaceIndex)
            for link in self.state.value.links.values where advertising.concerns(link) {
                link.machine.update(id, records, at: System.now)
            }
            self.settle()
        }
    }
}
