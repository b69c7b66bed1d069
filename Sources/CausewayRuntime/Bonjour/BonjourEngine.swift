package import CausewayBonjourProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
package import CausewayWire
internal import Dispatch

/// Runs multicast DNS for the whole process: all interfaces, queries and services.
///
/// The engine monitors the network while it is in use, and holds no resources otherwise. All work runs on one loop.
/// Every method may be called from any thread; every handler is called on the loop.
package final class BonjourEngine: Sendable {
    package static let shared = BonjourEngine(on: Engine.nextLoop())

    /// The permitted interfaces of an engine, and whether the engine acts for this host.
    package struct Scope: Sendable {
        /// The permitted interfaces; `nil` for all suitable interfaces.
        var interfaces: Set<Int>?
        /// Whether the engine answers for this host's name and finds this host's own services.
        var isHost = true

        /// The settings for an engine that answers for this host, on all suitable interfaces.
        package static let host = Scope()

        /// Returns the settings for an engine that answers queries for other hosts. The engine uses only the given
        /// interfaces.
        package static func agent(on interfaces: Set<Int>) -> Scope { Scope(interfaces: interfaces, isHost: false) }
    }

    struct Asking {
        var question: DNSQuestion
        /// The indices of the interfaces on which to ask; `nil` for all.
        var interfaces: Set<Int>?
        var handler: @Sendable (QuestionEvent) -> Void
    }

    struct Advertising {
        var service: ServiceDescription
        var handler: @Sendable (ServiceEvent) -> Void
        /// The interfaces on which probing for the service name has succeeded. The value becomes `nil` when probing has
        /// succeeded on all interfaces and the handler was called.
        var settled: Set<Int>? = []

        var isTold: Bool { settled == nil }

        /// Records that probing for the name succeeded on an interface. Also called when interfaces are gone.
        ///
        /// - Parameter awaited: The interfaces on which the service is registered.
        /// - Returns: `true` once, when probing has succeeded on all these interfaces.
        mutating func passed(on interface: Int? = nil, of awaited: Set<Int>) -> Bool {
            guard var passed = settled else { return false }
            if let interface { passed.insert(interface) }
            passed.formIntersection(awaited)
            let isSettled = !passed.isEmpty && passed == awaited
            settled = isSettled ? nil : passed
            return isSettled
        }
    }

    /// The registration for the host's name.
    static let host = RegistrationID(rawValue: 0)

    package let loop: any EventLoop
    let scope: Scope
    let access: NetworkAccess
    private let numbers = LockedValue<UInt64>(0)
    let state: LoopBound<State>

    package convenience init(
        on loop: any EventLoop, hostLabel: String = BonjourEngine.systemHostLabel(), scope: Scope = .host
    ) {
        self.init(on: loop, hostLabel: hostLabel, scope: scope, .live)
    }

    init(on loop: any EventLoop, hostLabel: String, scope: Scope, _ access: NetworkAccess) {
        self.loop = loop
        self.scope = scope
        self.access = access
        state = LoopBound(State(host: HostName(hostLabel)), to: loop)
    }

    /// Returns the first label of the system's host name, or `linux` if there is no usable name.
    package static func systemHostLabel() -> String {
        let label = SystemHost.name.prefix { $0 != "." }
        return label.isEmpty || label == "localhost" ? "linux" : String(label.prefix(32))
    }

    func nextNumber() -> UInt64 {
        numbers.withLock { number in
            number += 1
            return number
        }
    }

    // MARK: Questions

    /// Starts a continuous query on one interface or on all, until ``stop(_:)``.
    package func ask(
        _ question: DNSQuestion, on interfaceIndex: Int? = nil, _ handler: @escaping @Sendable (QuestionEvent) -> Void
    ) -> QuestionID {
        ask(question, within: interfaceIndex.map { [$0] }, handler)
    }

    /// Starts a continuous query on some interfaces, until ``stop(_:)``.
    ///
    /// - Parameter interfaces: The indices of the interfaces; `nil` for all.
    package func ask(
        _ question: DNSQuestion, within interfaces: Set<Int>?,
        _ handler: @escaping @Sendable (QuestionEvent) -> Void
    ) -> QuestionID {
        let id = QuestionID(rawValue: nextNumber())
        loop.execute { self.begin(Asking(question: question, interfaces: interfaces, handler: handler), id) }
        return id
    }

    /// Sets the interfaces of a continuous query. The known answers on an added interface are reported. The answers on
    /// a removed interface are not reported as removed.
    package func limit(_ id: QuestionID, to interfaces: Set<Int>) {
        loop.execute {
            guard let old = self.state.value.asking[id] else { return }
            var new = old
            new.interfaces = interfaces
            self.state.value.asking[id] = new
            for link in self.state.value.links.values where new.concerns(link) != old.concerns(link) {
                if new.concerns(link) {
                    link.machine.ask(new.question, id, at: System.now)
                } else {
                    link.machine.stop(id)
                }
            }
            self.settle()
        }
    }

    package func stop(_ id: QuestionID) {
        loop.execute {
            guard self.state.value.asking.removeValue(forKey: id) != nil else { return }
            for link in self.state.value.links.values { link.machine.stop(id) }
            self.settle()
        }
    }

    private func begin(_ asking: Asking, _ id: QuestionID) {
        state.value.asking[id] = asking
        follow()
        for link in state.value.links.values where asking.concerns(link) {
            link.machine.ask(asking.question, id, at: System.now)
        }
        settle()
    }

    // MARK: Services

    /// Advertises a service until ``withdraw(_:)``.
    package func advertise(
        _ service: ServiceDescription, _ handler: @escaping @Sendable (ServiceEvent) -> Void
    ) -> RegistrationID {
        if self === Self.shared { _ = Self.exitGoodbyes }
        let id = RegistrationID(rawValue: nextNumber())
        loop.execute { self.begin(Advertising(service: service, handler: handler), id) }
        return id
    }

    /// Replaces a service's TXT record. Name, type and port stay the same.
    package func update(_ id: RegistrationID, text: [UInt8]) {
        loop.execute {
            self.state.value.advertising[id]?.service.exchange(text: text)
            guard let advertising = self.state.value.advertising[id] else { return }
            for link in self.state.value.links.values where advertising.concerns(link) {
                link.machine.update(id, self.records(of: advertising.service, on: link), at: System.now)
            }
            self.settle()
        }
    }

    /// How long the engine collects withdrawn registrations before it sends goodbyes. Goodbyes for several services can
    /// then share one message.
    private static let departure: Duration = .milliseconds(5)

    /// Withdraws a registration and sends goodbyes. Calls `completion` on the loop when they are sent.
    package func withdraw(_ id: RegistrationID, _ completion: @escaping @Sendable () -> Void = {}) {
        loop.execute {
            self.state.value.losses[id] = nil
            if let advertising = self.state.value.advertising.removeValue(forKey: id) {
                for link in self.state.value.links.values { link.machine.unregister(id, at: System.now) }
                if advertising.isTold { advertising.handler(.removed(name: advertising.service.name)) }
            }
            self.state.value.departures.append(completion)
            guard self.state.value.departures.count == 1 else { return }
            _ = self.loop.schedule(after: Self.departure) { self.depart() }
        }
    }

    private func depart() {
        settle()
        // Send queued messages now, because the process may end after `completion`.
        for link in state.value.links.values { link.flush(all: true) }
        let completions = state.value.departures
        state.value.departures = []
        for completion in completions { completion() }
        // The `settle` call at the beginning kept unused links open, because completions were waiting. So call `settle`
        // again now. If no goodbyes must be repeated, no timer would call it later.
        settle()
    }

    func begin(_ advertising: Advertising, _ id: RegistrationID) {
        let isFirst = state.value.advertising.isEmpty
        state.value.advertising[id] = advertising
        follow()
        for link in state.value.links.values {
            if isFirst, !link.hasHost { registerHost(on: link) }
            register(id, on: link)
            seekSleepProxies(on: link)
        }
        settle()
    }

    var hostName: DNSName { state.value.host.name }

    func registerHost(on link: LinkDriver) {
        guard scope.isHost else { return }
        link.hasHost = true
        guard link.canAnswer else { return }
        link.machine.register(link.addressRecords(of: hostName), Self.host, at: System.now)
    }

    func register(_ id: RegistrationID, on link: LinkDriver) {
        guard let advertising = state.value.advertising[id], advertising.concerns(link) else { return }
        guard link.canAnswer else { return refuse(id) }
        let service = advertising.service
        link.machine.register(
            records(of: service, on: link), id, isKnownUnique: service.ownHost != nil, at: System.now)
    }

    /// Ends a registration if this engine receives queries on none of the registration's links. The engine receives
    /// none if another program uses port 5353 exclusively.
    private func refuse(_ id: RegistrationID) {
        guard let advertising = state.value.advertising[id],
            !state.value.links.values.contains(where: { advertising.concerns($0) && $0.canAnswer })
        else { return }
        (state.value.advertising[id], state.value.losses[id]) = (nil, nil)
        advertising.handler(.portTaken)
    }
}

extension BonjourEngine.Asking {
    func concerns(_ link: LinkDriver) -> Bool { interfaces?.contains(link.interface.index) ?? true }
}

extension BonjourEngine.Advertising {
    func concerns(_ link: LinkDriver) -> Bool {
        service.interfaceIndex == nil || service.interfaceIndex == link.interface.index
    }
}
