internal import CausewayBonjourProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Advertises one listener's service with Bonjour while the listener is ready. Thread-safe.
final class ListenerAdvertisement: Sendable {
    private struct Progress {
        var port: UInt16?
        var service: NWListener.Service?
        var registration: RegistrationID?
        /// Whether a `follow()` call is registering the service now.
        ///
        /// Only that call stores the registration identifier. Other `follow()` calls return at once.
        var isRegistering = false
        var hasEnded = false
    }

    private let progress = LockedValue(Progress())
    private let engine = BonjourEngine.shared
    private let report: @Sendable (NWListener.ServiceRegistrationChange) -> Void
    private let failed: @Sendable (NWError) -> Void

    /// - Parameters:
    ///   - failed: Called when the service cannot be registered, or when its registration is lost.
    ///   - report: Called when the service was registered or withdrawn, on the event loop that runs multicast DNS.
    init(
        failed: @escaping @Sendable (NWError) -> Void,
        _ report: @escaping @Sendable (NWListener.ServiceRegistrationChange) -> Void
    ) {
        self.failed = failed
        self.report = report
    }

    /// Registers the service. Called when the listener has opened its port.
    func begin(port: UInt16) {
        progress.withLock { $0.port = port }
        follow()
    }

    /// Advertises another service; `nil` ends the advertisement. If the new service differs from the current one only
    /// in the TXT record, the registration stays and the record is replaced.
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
        let next = progress.withLock { progress -> (NWListener.Service, UInt16)? in
            guard !progress.hasEnded, progress.registration == nil, !progress.isRegistering, let port = progress.port,
                let service = progress.service
            else { return nil }
            progress.isRegistering = true
            return (service, port)
        }
        guard let (service, port) = next else { return }
        do throws(NWError) {
            advertise(service, try service.description(port: port))
        } catch {
            progress.withLock { $0.isRegistering = false }
            failed(error)
        }
    }

    private func advertise(_ service: NWListener.Service, _ description: ServiceDescription) {
        let id = engine.advertise(description) { [report, failed] event in
            switch event {
            case .registered(let name): report(.add(service.endpoint(name)))
            case .removed(let name): report(.remove(service.endpoint(name)))
            case .failed: failed(.dns(DNSServiceErrorType(kDNSServiceErr_NameConflict)))
            case .portTaken: failed(.dns(DNSServiceErrorType(kDNSServiceErr_ServiceNotRunning)))
            }
        }
        let isLate = progress.withLock { progress in
            progress.isRegistering = false
            guard !progress.hasEnded, progress.service == service else { return true }
            progress.registration = id
            return false
        }
        guard isLate else { return }
        engine.withdraw(id)
        follow()
    }
}

extension NWListener.Service {
    fileprivate func isSame(as other: Self) -> Bool {
        name == other.name && type == other.type && domain == other.domain && noAutoRename == other.noAutoRename
    }

    fileprivate var text: [UInt8] { txtRecord.map { [UInt8]($0) } ?? [] }

    /// Creates the service description to register with the Bonjour engine.
    ///
    /// - Throws: `kDNSServiceErr_BadParam` for an invalid type or name, `ENOTSUP` for a domain other than `local`.
    func description(port: UInt16) throws(NWError) -> ServiceDescription {
        guard try NWEndpoint.serviceDomain(type, domain).domain == .local else { throw .posix(.ENOTSUP) }
        let label = name.flatMap { $0.isEmpty ? nil : $0 } ?? BonjourEngine.systemHostLabel()
        do {
            var description = try ServiceDescription(
                name: label, typeText: type, port: port, text: text, mayRename: !noAutoRename)
            if isKnownUnique { description.ownHost = Self.uniqueHost() }
            return description
        } catch {
            throw .dns(DNSServiceErrorType(kDNSServiceErr_BadParam))
        }
    }

    /// Returns a host name with 96 random bits, so that each service on this host has a different host name.
    private static func uniqueHost() -> DNSName? {
        let digits =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt32.random(in: .min ... .max), radix: 36)
        return DNSName(digits, in: .local)
    }

    fileprivate func endpoint(_ name: String) -> NWEndpoint {
        .service(name: name, type: String(type.prefix { $0 != "," }), domain: "local.", interface: nil)
    }
}
