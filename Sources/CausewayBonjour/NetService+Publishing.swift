internal import Causeway
internal import CausewayRuntime
internal import CausewayStreams
internal import CausewayWire
internal import Dispatch
internal import Foundation

extension NetService {
    /// Publishes the service. If another host uses the name, appends a number to the name.
    public func publish() { publish(options: []) }

    /// Publishes the service and reports the result to the delegate.
    ///
    /// Counterpart: `publish(options:)`, macOS 10.5, iOS 2.
    public func publish(options: Options) {
        guard activity.current == nil else { return refuse(.activityInProgress) }
        let listens = options.contains(.listenForConnections)
        guard let description = describe(options), listens || port > 0, !listens || !isDatagram else {
            return refuse(.badArgumentError)
        }
        events.add { service, _ in service.value.delegate?.netServiceWillPublish(service.value) }
        if listens { listen(description) } else { advertise(description, nil) }
    }

    private var isDatagram: Bool { type.lowercased().contains("._udp") }

    /// Returns the description with which the service is registered; `nil` if the service has an invalid name, type,
    /// domain or port.
    private func describe(_ options: Options) -> ServiceDescription? {
        let label = name.isEmpty ? BonjourEngine.systemHostLabel() : name
        // Services are registered with multicast DNS, which supports only the domain `local.`.
        guard let instance = instanceName(label), instance.isOfLink, let parsed = try? DNSServiceType(type),
            let number = UInt16(exactly: max(port, 0))
        else { return nil }
        return ServiceDescription(
            name: label, type: parsed.name, subtypes: parsed.subtypes, port: number,
            text: textRecord.map { [UInt8]($0) } ?? [], mayRename: !options.contains(.noAutoRename))
    }

    private func refuse(_ code: ErrorCode) {
        events.add { service, _ in
            service.value.delegate?.netService(service.value, didNotPublish: Self.dictionary(code))
        }
    }

    // MARK: Advertising

    private func advertise(_ description: ServiceDescription, _ listener: NWListener?) {
        let (events, number) = (events, activity.number)
        let registration = BonjourEngine.shared.advertise(description) { event in
            events.add { service, _ in
                if service.value.activity.number == number { service.value.registrationChanged(event) }
            }
        }
        activity.current = .publishing(registration, listener)
    }

    private func registrationChanged(_ event: ServiceEvent) {
        switch event {
        case .registered(let name):
            self.name = name
            delegate?.netServiceDidPublish(self)
        // Do not report the removal to the delegate. Either the program has stopped the registration, or another event
        // follows: a new name, or a failure.
        case .removed: break
        case .failed, .portTaken:
            end()
            delegate?.netService(
                self, didNotPublish: Self.dictionary(event == .failed ? .collisionError : .unknownError))
        }
    }

    // MARK: Listening

    private func listen(_ description: ServiceDescription) {
        let wanted = description.port == 0 ? NWEndpoint.Port.any : NWEndpoint.Port(integerLiteral: description.port)
        guard let listener = try? NWListener(using: .tcp, on: wanted) else { return refuse(.unknownError) }
        activity.current = .publishing(nil, listener)
        let (events, number) = (events, activity.number)
        listener.newConnectionHandler = { connection in
            events.add { service, _ in service.value.accept(connection) }
        }
        listener.stateUpdateHandler = { [weak listener] state in
            let port = listener?.port?.rawValue
            events.add { service, _ in
                guard service.value.activity.number == number else { return }
                service.value.listenerChanged(state, port, description)
            }
        }
        listener.start(queue: DispatchQueue(label: "causeway.net-service", target: .global()))
    }

    private func listenerChanged(_ state: NWListener.State, _ port: UInt16?, _ description: ServiceDescription) {
        switch state {
        case .ready:
            guard let port, case .publishing(nil, let listener) = activity.current else { return }
            var description = description
            description.port = port
            self.port = Int(port)
            advertise(description, listener)
        case .failed:
            end()
            delegate?.netService(self, didNotPublish: Self.dictionary(.unknownError))
        case .setup, .waiting, .cancelled: break
        }
    }

    private func accept(_ connection: NWConnection) {
        guard activity.current != nil, let delegate else { return connection.cancel() }
        let (input, output) = Stream.streams(over: connection)
        delegate.netService(self, didAcceptConnectionWith: input, outputStream: output)
    }
}
