internal import CausewayBonjourProtocols
internal import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// Runs a ``LinkBridge`` between two interfaces, with its own sockets.
///
/// All work runs on one loop. Every method may be called from any thread; the handler is called on the loop.
package final class LinkBridgeDriver: Sendable {
    package enum Event: Sendable, Equatable {
        /// The service can now be found on this interface.
        case bridged(Service, on: NWInterface)
        case ended(Service, on: NWInterface)
        /// Another host on this interface already uses the service's name.
        case taken(Service, on: NWInterface)
        /// Another program on this host has exclusive use of port 5353. So queries on this interface do not reach this
        /// process.
        case portTaken(on: NWInterface)
    }

    /// A service's name and type, for display.
    package struct Service: Sendable, Equatable {
        package var name: String
        package var type: String
    }

    private struct State {
        var machine: LinkBridge
        var questions: [LinkBridge.Side: [DNSQuestion: QuestionID]] = [.near: [:], .far: [:]]
        var registrations: [LinkBridge.Side: [DNSName: RegistrationID]] = [.near: [:], .far: [:]]
        var timer: (id: TimerID, due: Duration)?
        var hasEnded = false
    }

    private let engine: BonjourEngine
    private let interfaces: [LinkBridge.Side: NWInterface]
    private let handler: @Sendable (Event) -> Void
    private let state: LoopBound<State>

    /// - Parameters:
    ///   - types: The service types to bridge.
    ///   - near: The interface on which the bridge registers the services that it finds on `far`.
    ///   - far: The other interface.
    ///   - isBothWays: Whether the bridge also registers services from `near` on `far`.
    package init(
        _ types: [DNSServiceType], near: NWInterface, far: NWInterface, isBothWays: Bool,
        _ handler: @escaping @Sendable (Event) -> Void
    ) {
        engine = BonjourEngine(on: Engine.nextLoop(), scope: .agent(on: [near.index, far.index]))
        interfaces = [.near: near, .far: far]
        self.handler = handler
        let machine = LinkBridge(types, from: isBothWays ? [.near, .far] : [.far])
        state = LoopBound(State(machine: machine), to: engine.loop)
    }

    package func start() {
        engine.loop.execute {
            self.state.value.machine.start(at: System.now)
            self.settle()
        }
    }

    /// Withdraws all services. `completion` is called when the goodbyes are sent.
    package func stop(_ completion: @escaping @Sendable () -> Void) {
        engine.loop.execute {
            self.state.value.hasEnded = true
            if let timer = self.state.value.timer.take() { self.engine.loop.cancel(timer.id) }
            for id in self.state.value.questions.values.flatMap(\.values) { self.engine.stop(id) }
            var last: RegistrationID?
            for id in self.state.value.registrations.values.flatMap(\.values) {
                if let last { self.engine.withdraw(last) }
                last = id
            }
            guard let last else { return completion() }
            self.engine.withdraw(last, completion)
        }
    }

    // MARK: Actions

    private func settle() {
        guard !state.value.hasEnded else { return }
        for action in state.value.machine.takeActions() { perform(action) }
        let next = state.value.machine.deadline
        guard next != state.value.timer?.due else { return }
        if let timer = state.value.timer.take() { engine.loop.cancel(timer.id) }
        guard let next else { return }
        let id = engine.loop.schedule(after: max(next - System.now, .zero)) {
            self.state.value.timer = nil
            self.state.value.machine.advance(to: System.now)
            self.settle()
        }
        state.value.timer = (id, next)
    }

    private func perform(_ action: LinkBridge.Action) {
        switch action {
        case .ask(let question, let side): ask(question, side)
        case .stop(let question, let side):
            if let id = state.value.questions[side]?.removeValue(forKey: question) { engine.stop(id) }
        case .register(let records, let service, let side): register(records, service, side)
        case .update(let records, let service, let side):
            if let id = state.value.registrations[side]?[service] { engine.update(id, records) }
        case .withdraw(let service, let side):
            if let id = state.value.registrations[side]?.removeValue(forKey: service) { engine.withdraw(id) }
        case .bridged(let service, let side): tell(side) { .bridged(Service(service), on: $0) }
        case .ended(let service, let side): tell(side) { .ended(Service(service), on: $0) }
        case .taken(let service, let side): tell(side) { .taken(Service(service), on: $0) }
        }
    }

    private func tell(_ side: LinkBridge.Side, _ event: (NWInterface) -> Event) {
        if let interface = interfaces[side] { handler(event(interface)) }
    }

    private func ask(_ question: DNSQuestion, _ side: LinkBridge.Side) {
        guard let interface = interfaces[side] else { return }
        let id = engine.ask(question, on: interface.index) { changes in
            guard !self.state.value.hasEnded, self.state.value.questions[side]?[question] != nil else { return }
            self.state.value.machine.changed(
                question, on: side, added: changes.added, removed: changes.removed, at: System.now)
            self.settle()
        }
        state.value.questions[side]?[question] = id
    }

    private func register(_ records: [DNSRecord], _ service: DNSName, _ side: LinkBridge.Side) {
        guard let interface = interfaces[side] else { return }
        let number = LockedValue<RegistrationID?>(nil)
        // A withdrawn registration may still deliver events. Handle an event only if its registration is the service's
        // current one.
        let isCurrent: @Sendable () -> Bool = {
            guard let id = number.withLock({ $0 }) else { return false }
            return !self.state.value.hasEnded && self.state.value.registrations[side]?[service] == id
        }
        let id = engine.answer(records, on: interface.index) { event in
            guard isCurrent() else { return }
            switch event {
            case .registered: self.state.value.machine.established(service, on: side)
            case .portTaken: self.tell(side) { .portTaken(on: $0) }
            case .removed, .failed: break
            }
            self.settle()
        } loss: { name in
            guard isCurrent() else { return }
            self.state.value.registrations[side]?[service] = nil
            self.state.value.machine.conflicted(service, over: name, on: side, at: System.now)
            self.settle()
        }
        number.withLock { $0 = id }
        state.value.registrations[side]?[service] = id
    }
}

extension LinkBridgeDriver.Service {
    fileprivate init(_ service: DNSName) {
        name = service.firstLabel.map { String(decoding: $0, as: UTF8.self) } ?? ""
        type = service.droppingFirst().labels.prefix(2).map { String(decoding: $0, as: UTF8.self) }
            .joined(separator: ".")
    }
}
