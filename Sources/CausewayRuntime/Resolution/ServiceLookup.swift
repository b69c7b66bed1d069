package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// Monitors a service's location or TXT record until the lookup is stopped.
package final class ServiceLookup: Sendable {
    package enum Wish: Sendable { case place, text }

    private struct State: Sendable {
        var locations = Locations()
        var told = Place()
        var questions: [RecordQuestion] = []
        /// The address queries for each interface index. The key 0 is for queries that are not limited to one
        /// interface.
        var addressQuestions: [Int: [RecordQuestion]] = [:]
        var timers: [TimerID] = []
        var isGathering = false
        var hasEnded = false
    }

    /// How long the lookup collects changes of a location before it reports them. The main purpose is to report IPv4
    /// and IPv6 addresses together (RFC 8305 §3).
    private static let gathering: Duration = .milliseconds(50)

    private let instance: DNSName
    private let wish: Wish
    private let interface: NWInterface?
    private let failed: @Sendable (NameProblem?) -> Void
    private let handler: @Sendable (Place) -> Void
    private let engine = BonjourEngine.shared
    private let state = LockedValue(State())

    /// - Parameters:
    ///   - instance: The service instance's name.
    ///   - wish: The information to monitor: the location or the TXT record. With the location, the TXT record is also
    ///     queried.
    ///   - interface: The only interface to use; `nil` for all.
    ///   - failed: Called with the failure if no DNS server answers the first query for the location, and with `nil` if
    ///     a server answers after that.
    ///   - handler: Called on a loop with the current state, after each change.
    package init(
        _ instance: DNSName, wants wish: Wish, on interface: NWInterface? = nil,
        failed: @escaping @Sendable (NameProblem?) -> Void = { _ in },
        _ handler: @escaping @Sendable (Place) -> Void
    ) {
        self.instance = instance
        self.wish = wish
        self.interface = interface
        self.failed = failed
        self.handler = handler
    }

    package func begin() {
        if wish == .place { ask(instance, .srv, on: interface) }
        ask(instance, .txt, on: interface)
    }

    package func end() {
        let (questions, timers) = state.withLock { state in
            defer { (state.questions, state.addressQuestions, state.timers) = ([], [:], []) }
            state.hasEnded = true
            return (state.questions + state.addressQuestions.values.flatMap { $0 }, state.timers)
        }
        for question in questions { question.stop() }
        for timer in timers { engine.loop.cancel(timer) }
    }

    package func end(after limit: Duration, _ body: @escaping @Sendable () -> Void) {
        schedule(after: limit) { lookup in
            lookup.end()
            body()
        }
    }

    private func schedule(after delay: Duration, _ body: @escaping @Sendable (ServiceLookup) -> Void) {
        let timer = engine.loop.schedule(after: delay) { [weak self] in if let self { body(self) } }
        let isLate = state.withLock { state in
            if !state.hasEnded { state.timers.append(timer) }
            return state.hasEnded
        }
        if isLate { engine.loop.cancel(timer) }
    }

    private func ask(_ name: DNSName, _ type: DNSRecordType, on interface: NWInterface?) {
        let question = RecordQuestion(
            name, type, on: interface,
            failed: { [failed] problem in if type == .srv { failed(problem) } },
            { [weak self] changes in self?.heard(changes) })
        let isLate = state.withLock { state in
            if state.hasEnded { return true }
            if type == .a || type == .aaaa {
                state.addressQuestions[interface?.index ?? 0, default: []].append(question)
            } else {
                state.questions.append(question)
            }
            return false
        }
        if isLate { question.stop() }
    }

    // MARK: On the engine's loop

    private func heard(_ changes: RecordChanges) {
        let (step, stale) = state.withLock { state -> (Locations.Step, [RecordQuestion]) in
            let step = state.locations.heard(changes)
            guard step != .keep else { return (step, []) }
            return (step, state.addressQuestions.removeValue(forKey: changes.interface?.index ?? 0) ?? [])
        }
        for question in stale { question.stop() }
        if case .ask(let host) = step {
            ask(host, .a, on: changes.interface)
            ask(host, .aaaa, on: changes.interface)
        }
        gather()
    }

    /// Reports changes. A report about a location first waits briefly, so that changes in quick succession are reported
    /// together.
    private func gather() {
        guard wish == .place else { return tell() }
        let isFirst = state.withLock { state in
            defer { state.isGathering = true }
            return !state.isGathering
        }
        guard isFirst else { return }
        schedule(after: Self.gathering) { lookup in
            lookup.state.withLock { $0.isGathering = false }
            lookup.tell()
        }
    }

    private func tell() {
        let place = state.withLock { state -> Place? in
            let place = state.locations.place
            guard !state.hasEnded, place != state.told else { return nil }
            state.told = place
            return place
        }
        if let place { handler(place) }
    }
}
