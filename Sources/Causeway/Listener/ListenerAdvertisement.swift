internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// What a listener advertises, from when it is ready until it ends.
final class ListenerAdvertisement: Sendable {
    private struct Progress {
        var port: UInt16?
        var service: NWListener.Service?
        var registration: RegistrationID?
        var hasEnded = false
    }

    private let progress = Guarded(Progress())
    private let engine = BonjourEngine.shared
    private let report: @Sendable (NWListener.ServiceRegistrationChange) -> Void

    /// - Parameter report: Called on the engine's loop.
    init(_ report: @escaping @Sendable (NWListener.ServiceRegistrationChange) -> Void) { self.report = report }

    /// The port is open: what is to be advertised can be.
    func begin(port: UInt16) {
        progress.withLock { $0.port = port }
        follow()
    }

    /// Advertises another service, or none. One of the same name and type only says something else of itself.
    func change(to service: NWListener.Service?) {
        let (id, text) = progress.withLock { progress -> (RegistrationID?, [UInt8]?) in
            defer { progress.service = service }
            if let old = progress.service, let service, old.isSame(as: service), let id = progress.registration {
                return (id, service.text)
            }
            return (progress.registration.take(), nil)
        }
        if let id, let text { return engine.update(id, text: text) }
        if let id { engine.withdraw(id) }
        follow()
    }

    func end() {
        let id = progress.withLock { progress in
            progress.hasEnded = true
            return progress.registration.take()
        }
        if let id { engine.withdraw(id) }
    }

    private func follow() {
        let description = progress.withLock { progress -> (ServiceDescription, NWListener.Service)? in
            guard !progress.hasEnded, progress.registration == nil, let port = progress.port,
                let service = progress.service, let description = service.description(port: port)
            else { return nil }
            return (description, service)
        }
        guard let (description, service) = description else { return }
        let id = engine.advertise(description) { [report] event in
            switch event {
            case .registered(let name): report(.add(service.endpoint(name)))
            case .removed(let name): report(.remove(service.endpoint(name)))
            case .failed, .portTaken: break
            }
        }
        let isLate = progress.withLock { progress in
            guard !progress.hasEnded, progress.service == service else { return true }
            progress.registration = id
            return false
        }
        if isLate { engine.withdraw(id) }
    }
}

extension NWListener.Service {
    fileprivate func isSame(as other: Self) -> Bool {
        name == other.name && type == other.type && domain == other.domain && noAutoRename == other.noAutoRename
    }

    fileprivate var text: [UInt8] { txtRecord.map { [UInt8]($0) } ?? [] }

    /// `nil` for what cannot be advertised: a type that is none, a domain beyond the link.
    fileprivate func description(port: UInt16) -> ServiceDescription? {
        guard let type = try? NWEndpoint.serviceDomain(type, domain) else { return nil }
        let label = name.flatMap { $0.isEmpty ? nil : $0 } ?? BonjourEngine.systemHostLabel()
        return ServiceDescription(
            name: label, type: type.name, subtypes: type.subtypes, port: port, text: text, mayRename: !noAutoRename)
    }

    fileprivate func endpoint(_ name: String) -> NWEndpoint {
        .service(name: name, type: String(type.prefix { $0 != "," }), domain: "local.", interface: nil)
    }
}
