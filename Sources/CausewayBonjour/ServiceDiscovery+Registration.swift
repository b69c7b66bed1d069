public import Causeway
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension ServiceDiscovery {
    /// Advertises a service on the link until it is withdrawn, or nobody holds what is returned any more.
    ///
    /// Whoever serves the port is left alone.
    ///
    /// - Parameters:
    ///   - name: Any text; empty for the host's name. If somebody else has it, a number is put behind it.
    ///   - type: Such as `_http._tcp`; with subtypes, `_ipp._tcp,_color`.
    /// - Returns: When the name is the service's own, which takes a link.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for a name or type that cannot be, `.dns(kDNSServiceErr_NameConflict)` where somebody else
    ///   has the name and `mayRename` is `false`, `.posix(.EADDRINUSE)` where another program has port 5353 for itself, `CancellationError` when the task is cancelled before.
    public static func register(
        _ name: String = "", type: String, port: NWEndpoint.Port, text: NWTXTRecord = NWTXTRecord(),
        mayRename: Bool = true, interface: NWInterface? = nil
    ) async throws -> Registration {
        try await settled(try description(name, type, port, text, mayRename, interface), type)
    }

    /// Publishes a record of any type on the link until it is withdrawn, or nobody holds what is returned any more.
    ///
    /// - Parameters:
    ///   - name: In presentation form, in `local`.
    ///   - type: Such as `TXT` or `TYPE65400`.
    ///   - content: The record's content as it stands in a message, without compression (RFC 1035 §3.3).
    ///   - timeToLive: In seconds.
    ///   - isUnique: Whether nobody else may have the name; else others may have records there as well.
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` for what cannot be, `.dns(kDNSServiceErr_NameConflict)` where somebody else has the name,
    ///   `CancellationError` when the task is cancelled before it is settled.
    public static func register(
        record name: String, type: String, content: [UInt8], timeToLive: Int = 4_500, isUnique: Bool = true,
        interface: NWInterface? = nil
    ) async throws -> Registration {
        try await settled(try description(record: name, type, content, timeToLive, isUnique, interface), type)
    }

    /// Lets the process say goodbye for everything that it advertises when a signal ends it, such as `SIGTERM`.
    ///
    /// By itself only a process that ends normally does so. It ends by the signal all the same: at once, or two
    /// seconds later at most where the machine is busy.
    /// Not for signals that the program handles itself.
    public static func sayGoodbye(before signal: CInt) { BonjourEngine.farewell(before: signal) }

    /// Lets a sleep proxy of the link answer for everything that the process advertises while the host sleeps, and wake it for whoever
    /// needs it.
    ///
    /// Without one, or where none takes it, goodbyes are said before sleep as ever. Not for hosts that no packet can wake: nobody who
    /// asks for their services would know that they sleep. Cannot be undone.
    public static func useSleepProxies() { BonjourEngine.shared.useSleepProxies() }

    static func description(
        _ name: String, _ type: String, _ port: NWEndpoint.Port, _ text: NWTXTRecord, _ mayRename: Bool,
        _ interface: NWInterface?
    ) throws -> ServiceDescription {
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
        guard let owner = DNSName(name), owner.isOfLink, let type = DNSRecordType(type),
            let time = UInt32(exactly: timeToLive), (1...0x7FFF_FFFF).contains(time), content.count <= 8_900,
            let data = DNSRecordData(content: content, of: type)
        else { throw badParameter }
        let record = DNSRecord(owner, type, flushesCache: isUnique, timeToLive: time, data)
        return ServiceDescription(record: record, interfaceIndex: interface?.index)
    }

    /// Begins to register, and waits until the name is settled.
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

    /// A service or record of this process, for others to find.
    public final class Registration: Sendable {
        private struct State: Sendable {
            var name: String
            var id: RegistrationID?
        }

        private let state: LockedValue<State>
        private let type: String
        private let handler: @Sendable (Result<Identity, NWError>) -> Void

        /// - Parameter handler: Called on the engine's loop.
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
            // Another name follows, or this end was asked for.
            case .removed: break
            }
        }

        /// The name that it has now: another than was wished if somebody else had that, and perhaps another later. That of a record is the
        /// record's own.
        public var identity: Identity { Identity(name: state.withLock { $0.name }, type: type) }

        /// Exchanges what a service says of itself. Ten changes in a minute are told at once (RFC 6762 §8.4). Without effect on a record.
        public func update(_ text: NWTXTRecord) {
            if let id = state.withLock({ $0.id }) { BonjourEngine.shared.update(id, text: [UInt8](text.data)) }
        }

        /// Says goodbye; returns when that is out.
        public func withdraw() async {
            guard let id = state.withLock({ $0.id.take() }) else { return }
            await withCheckedContinuation { gone in BonjourEngine.shared.withdraw(id) { gone.resume() } }
        }
    }
}
