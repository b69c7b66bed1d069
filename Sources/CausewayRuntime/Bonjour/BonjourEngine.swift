package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
package import CausewayWire
internal import Dispatch

/// Multicast DNS for the whole process: all interfaces, all questions, all services.
///
/// It follows the network while somebody uses it, and holds nothing otherwise. Everything happens on one loop; every method may be
/// called from any thread, and every handler is called on that loop.
package final class BonjourEngine: Sendable {
    package static let shared = BonjourEngine(on: Engine.nextLoop())

    /// Which links an engine is on, and as what.
    package struct Scope: Sendable {
        /// The only interfaces; `nil` for all on which services are looked for and offered.
        var interfaces: Set<Int>?
        /// Whether it answers for the host's name, and finds what it offers itself.
        var isHost = true

        /// The host on all of its links.
        package static let host = Scope()

        /// Somebody who speaks for others, on some links.
        package static func agent(on interfaces: Set<Int>) -> Scope { Scope(interfaces: interfaces, isHost: false) }
    }

    struct Asking {
        var question: DNSQuestion
        var interfaceIndex: Int?
        var handler: @Sendable (QuestionEvent) -> Void
    }

    struct Advertising {
        var service: ServiceDescription
        var handler: @Sendable (ServiceEvent) -> Void
        /// Interfaces on which the name is settled; `nil` once it is on all, and that was told.
        var settled: Set<Int>? = []

        var isTold: Bool { settled == nil }
    }

    struct State {
        var links: [Int: LinkDriver] = [:]
        var asking: [QuestionID: Asking] = [:]
        var advertising: [RegistrationID: Advertising] = [:]
        /// Told which name is somebody else's, for records that do not stay then. Few have that.
        var losses: [RegistrationID: @Sendable (DNSName) -> Void] = [:]
        var hostLabel: String { didSet { hostName = Self.name(hostLabel) } }
        /// All services of the host share it.
        private(set) var hostName: DNSName
        var watch: NetworkChangeMonitor.Subscription?
        /// Whether the network was looked at since it is followed: a link that is new then has just come up.
        var hasLooked = false
        var timer: (id: TimerID, due: Duration)?
        /// When unused links are left.
        var restDue: Duration?
        var isPerforming = false
        /// Whether answers wait to be read when the sockets had their turn.
        var isReading = false
        /// Whether another process had the port before.
        var sharesPort = false
        /// Whoever waits for the goodbyes of what was withdrawn.
        var departures: [@Sendable () -> Void] = []
        /// Wakes the loop when the machine has slept, though nothing is due.
        var resumption: ResumptionWatch?
        /// By how much the clock that counts sleep was ahead of the one that does not.
        var slept: Duration = .zero
        /// Hears that the machine is about to sleep.
        var sleepWatch: BusWatch<SleepNotices>?
        /// Whether goodbyes were said for the time that it sleeps.
        var isAsleep = false
        /// Whether somebody else is to answer meanwhile.
        var usesSleepProxies = false
        /// Another each time that the machine has woken.
        var wakeups = UInt8.random(in: .min ... .max)

        init(hostLabel: String) {
            self.hostLabel = hostLabel
            hostName = Self.name(hostLabel)
        }

        private static func name(_ label: String) -> DNSName { DNSName(label, in: .local) ?? "linux.local" }
    }

    /// The registration of the host's own name.
    static let host = RegistrationID(rawValue: 0)

    package let loop: any EventLoop
    let scope: Scope
    private let numbers = LockedValue<UInt64>(0)
    let state: LoopBound<State>

    package init(
        on loop: any EventLoop, hostLabel: String = BonjourEngine.systemHostLabel(), scope: Scope = .host
    ) {
        self.loop = loop
        self.scope = scope
        state = LoopBound(State(hostLabel: hostLabel), to: loop)
    }

    /// The first label of the system's name.
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

    /// Keeps asking on one interface or all, until ``stop(_:)``.
    package func ask(
        _ question: DNSQuestion, on interfaceIndex: Int? = nil, _ handler: @escaping @Sendable (QuestionEvent) -> Void
    ) -> QuestionID {
        let id = QuestionID(rawValue: nextNumber())
        loop.execute { self.begin(Asking(question: question, interfaceIndex: interfaceIndex, handler: handler), id) }
        return id
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

    /// Exchanges what a service says of itself; its name, type and port stay.
    package func update(_ id: RegistrationID, text: [UInt8]) {
        loop.execute {
            self.state.value.advertising[id]?.service.exchange(text: text)
            guard let advertising = self.state.value.advertising[id] else { return }
            let records = advertising.service.records(on: self.hostName)
            for link in self.state.value.links.values where advertising.concerns(link) {
                link.machine.update(id, records, at: System.now)
            }
            self.settle()
        }
    }

    /// Services that are withdrawn within this time say goodbye together.
    private static let departure: Duration = .milliseconds(5)

    /// Says goodbye. `completion` is called once the goodbyes are out.
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
        // Whoever ends now must not take with him what waits for its turn.
        for link in state.value.links.values { link.flush(all: true) }
        let completions = state.value.departures
        state.value.departures = []
        for completion in completions { completion() }
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

    var hostName: DNSName { state.value.hostName }

    func registerHost(on link: LinkDriver) {
        guard scope.isHost else { return }
        link.hasHost = true
        guard link.canAnswer else { return }
        link.machine.register(link.addressRecords(of: hostName), Self.host, at: System.now)
    }

    func register(_ id: RegistrationID, on link: LinkDriver) {
        guard let advertising = state.value.advertising[id], advertising.concerns(link) else { return }
        guard link.canAnswer else { return refuse(id) }
        link.machine.register(advertising.service.records(on: hostName), id, at: System.now)
    }

    /// Nobody can ask for a service where another program has the port for itself.
    private func refuse(_ id: RegistrationID) {
        guard let advertising = state.value.advertising[id],
            !state.value.links.values.contains(where: { advertising.concerns($0) && $0.canAnswer })
        else { return }
        (state.value.advertising[id], state.value.losses[id]) = (nil, nil)
        advertising.handler(.portTaken)
    }
}

extension BonjourEngine.Asking {
    func concerns(_ link: LinkDriver) -> Bool { interfaceIndex == nil || interfaceIndex == link.interface.index }
}

extension BonjourEngine.Advertising {
    func concerns(_ link: LinkDriver) -> Bool {
        service.interfaceIndex == nil || service.interfaceIndex == link.interface.index
    }
}
