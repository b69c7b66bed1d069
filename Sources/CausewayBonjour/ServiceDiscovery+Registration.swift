public import Causeway
internal import CausewayBonjourProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension ServiceDiscovery {
    /// Advertises a service on the link until it is withdrawn or the returned value is released.
    ///
    /// This method does not listen on the port; the program must accept connections itself.
    ///
    /// Cancellation: throws `CancellationError` and withdraws the service.
    ///
    /// - Parameters:
    ///   - name: Any text; empty for the host's name.
    ///   - type: The type, such as `_http._tcp`; with subtypes, `_ipp._tcp,_color`.
    ///   - domain: The link's domain `local.`, or empty. Other domains are not supported, because this library does not
    ///     send DNS updates to name servers (RFC 2136).
    ///   - port: The port on which the program accepts connections.
    ///   - text: The service's TXT record.
    ///   - mayRename: Whether to append a number to the name if another host uses it. If `false`, this method throws.
    ///   - interface: The interface to advertise on; `nil` for all.
    /// - Returns: The registration, as soon as the name is confirmed to be unique. The confirmation requires a network
    ///   link.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for an invalid name, type or domain, `.posix(.ENOTSUP)` for a domain
    ///   other than `local.`, `.dns(kDNSServiceErr_NameConflict)` if another host uses the name and `mayRename` is
    ///   `false`, `.posix(.EADDRINUSE)` if another program has exclusive use of port 5353.
    public static func register(
        _ name: String = "", type: String, domain: String = "local.", port: NWEndpoint.Port,
        text: NWTXTRecord = NWTXTRecord(), mayRename: Bool = true, interface: NWInterface? = nil
    ) async throws -> Registration {
        try await settled(try description(name, type, domain, port, text, mayRename, interface), type)
    }

    /// Publishes a record of any type on the link until it is withdrawn or the returned value is released.
    ///
    /// Cancellation: throws `CancellationError` and withdraws the record.
    ///
    /// - Parameters:
    ///   - name: The name in presentation format, in `local`.
    ///   - type: The record type, such as `TXT` or `TYPE65400`.
    ///   - content: The record's content as in a message, without compression (RFC 1035 §3.3).
    ///   - timeToLive: The TTL in seconds.
    ///   - isUnique: Whether the name must be unique. If `false`, other hosts may publish records with the same name and type.
    ///   - interface: The interface to publish on; `nil` for all.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for invalid arguments, `.posix(.ENOTSUP)` for a name outside `local`,
    ///   `.dns(kDNSServiceErr_NameConflict)` if another host uses the name.
    public static func register(
        record name: String, type: String, content: [UInt8], timeToLive: Int = 4_500, isUnique: Bool = true,
        interface: NWInterface? = nil
    ) async throws -> Registration {
        try await settled(try description(record: name, type, content, timeToLive, isUnique, interface), type)
    }

    /// Sends goodbye packets (RFC 6762 §10.1) for everything that the process advertises, before a signal such as `SIGTERM` ends the
    /// process.
    ///
    /// Without this call, only a normal process exit sends goodbyes. The signal still ends the process: immediately, or on a busy host
    /// after at most two seconds. Do not use this for signals that the program handles itself.
    ///
    /// - Returns: Whether goodbyes will be sent. `false` if the process has no free file descriptors.
    @discardableResult
    public static func sayGoodbye(before signal: CInt) -> Bool {
        (try? BonjourEngine.farewell(before: signal)) != nil
    }

    /// Registers the advertised services with a sleep proxy on the link while the host sleeps. The proxy answers for
    /// the host and wakes it when a client needs it.
    ///
    /// If no proxy is available, goodbyes are sent before sleep as usual. Do not call this method on a host that cannot
    /// be woken over the network: the proxy answers as if the host were awake, but clients could not connect. The call
    /// cannot be undone.
    public static func useSleepProxies() { BonjourEngine.shared.useSleepProxies() }

    static func description(
        _ name: String, _ type: String, _ domain: String, _ port: NWEndpoint.Port, _ text: NWTXTRecord,
        _ mayRename: Bool, _ interface: NWInterface?
    ) throws -> ServiceDescription {
        guard let place = DNSName(domain.isEmpty ? "local" : domain), !place.isRoot else { throw badParameter }
        guard place == .local else { throw NWError.posix(.ENOTSUP) }
        let label = name.isEmpty ? BonjourEngine.systemHostLabel() : name
        do {
            return try ServiceDescription(
                name: label, typeText: type, port: port.rawValue, text: [UInt8](text.data), mayRename: mayRename,
                interfaceIndex: interface?.index)
        } catch {
            throw badParameter
        }
    }

    static func description(
        record name: String, _ type: String, _ content: [UInt8], _ timeToLive: Int, _ isUnique: Bool,
        _ interface: NWInterface?
    ) throws -> ServiceDescription {
        guard let owner = DNSName(name), let type = DNSRecordType(type),
            let time = UInt32(exactly: timeToLive), (1...0x7FFF_FFFF).contains(time), content.count <= 8_900,
            let data = DNSRecordData(content: content, of: type)
        else { throw badParameter }
        // This library cannot publish a record outside `local`: only a name server can, after an update (RFC 2136).
        guard owner.isOfLink else { throw NWError.posix(.ENOTSUP) }
        let record = DNSRecord(owner, type, flushesCache: isUnique, timeToLive: time, data)
        return ServiceDescription(record: record, interfaceIndex: interface?.index)
    }

    /// Starts a registration and waits until the name is confirmed.
    private static func settled(_ service: ServiceDescription, _ type: String) async throws -> Registration {
        let (results, feed) = AsyncThrowingStream<Identity, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let registration = Registration(service, type: type) { result in
            switch result {
            case .success(let identity): feed.yield(identity)
            case .failure(let error): feed.finish(throwing: error)
            }
        }
        for try await _ in results { return registration }
        throw CancellationError()
    }

    /// A service or record that this process advertises.
    public final class Registration: Sendable {
        private struct State: Sendable {
            var name: String
            var id: RegistrationID?
        }

        private let state: LockedValue<State>
        private let type: String
        private let handler: @Sendable (Result<Identity, NWError>) -> Void

        /// Starts a registration.
        ///
        /// - Parameter handler: Called on the event loop that runs multicast DNS.
        init(
            _ service: ServiceDescription, type: String,
            _ handler: @escaping @Sendable (Result<Identity, NWError>) -> Void
        ) {
            state = LockedValue(State(name: service.name))
            self.type = type
            self.handler = handler
            let id = BonjourEngine.shared.advertise(service) { [weak self] in self?.changed($0) }
            state.withLock { $0.id = id }
        }

        deinit {
            if let id = state.withLock({ $0.id }) { BonjourEngine.shared.withdraw(id) }
        }

        private func changed(_ event: ServiceEvent) {
            switch event {
            case .registered(let name):
                state.withLock { $0.name = name }
                handler(.success(identity))
            case .failed, .portTaken:
                state.withLock { $0.id = nil }
                handler(.failure(event == .failed ? .dns(-65_548) : .posix(.EADDRINUSE)))
            // Do not report the removal. If the program did not stop the registration itself, another event follows. It
            // reports either a new name or a failure.
            case .removed: break
            }
        }

        /// The current identity. If another host already used the requested name, the identity has a different name. The name can also
        /// change later. The name of a record never changes.
        public var identity: Identity { Identity(name: state.withLock { $0.name }, type: type) }

        /// Replaces the TXT record of a service. Up to ten changes per minute are announced immediately; further
        /// changes are announced later (RFC 6762 §8.4). This method has no effect on a record.
        public func update(_ text: NWTXTRecord) {
            if let id = state.withLock({ $0.id }) { BonjourEngine.shared.update(id, text: [UInt8](text.data)) }
        }

        /// Withdraws the registration. Returns after the goodbye message was sent.
        ///
        /// Cancellation: ignored; the goodbye is still sent.
        public func withdraw() async {
            guard let id = state.withLock({ $0.id.take() }) else { return }
            await withCheckedContinuation { gone in BonjourEngine.shared.withdraw(id) { gone.resume() } }
        }
    }
}
