package import CausewayProtocols
internal import CausewaySystem
package import CausewayWire

extension BonjourEngine {
    /// Answers for records under whatever names until ``withdraw(_:_:)``: on one interface, and as one. Those that are unique are
    /// probed for together.
    ///
    /// - Parameter loss: Told which of the names is somebody else's. All records are off then.
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

    /// Exchanges records that are answered for.
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
