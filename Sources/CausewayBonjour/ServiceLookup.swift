internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Follows where a service is, or what it says of itself, until it ends.
final class ServiceLookup: Sendable {
    enum Wish: Sendable { case place, text }

    private struct State: Sendable {
        var place = Place()
        var told = Place()
        var questions: [QuestionID] = []
        var addressQuestions: [QuestionID] = []
        var timers: [TimerID] = []
        var isGathering = false
        var hasEnded = false
    }

    /// How long the other family's addresses are waited for after the first (RFC 8305 §3).
    private static let gathering: Duration = .milliseconds(50)

    private let instance: DNSName
    private let wish: Wish
    private let handler: @Sendable (Place) -> Void
    private let engine = BonjourEngine.shared
    private let state = Guarded(State())

    /// - Parameter handler: Called on the engine's loop with what is known, at each change.
    init(_ instance: DNSName, wants wish: Wish, _ handler: @escaping @Sendable (Place) -> Void) {
        self.instance = instance
        self.wish = wish
        self.handler = handler
    }

    func begin() {
        if wish == .place { ask(instance, .srv) }
        ask(instance, .txt)
    }

    func end() {
        let (questions, timers) = state.withLock { state in
            defer { (state.questions, state.addressQuestions, state.timers) = ([], [], []) }
            state.hasEnded = true
            return (state.questions + state.addressQuestions, state.timers)
        }
        for id in questions { engine.stop(id) }
        for timer in timers { engine.loop.cancel(timer) }
    }

    func end(after limit: Duration, _ body: @escaping @Sendable () -> Void) {
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

    private func ask(_ name: DNSName, _ type: DNSRecordType, on interfaceIndex: Int? = nil) {
        let id = engine.ask(DNSQuestion(name, type), on: interfaceIndex) { [weak self] in self?.heard($0) }
        let isLate = state.withLock { state in
            if state.hasEnded { return true }
            if type == .a || type == .aaaa { state.addressQuestions.append(id) } else { state.questions.append(id) }
            return false
        }
        if isLate { engine.stop(id) }
    }

    // MARK: On the engine's loop

    private func heard(_ event: QuestionEvent) {
        let (wanted, stale) = state.withLock { state -> (DNSName?, [QuestionID]) in
            guard let wanted = state.place.heard(added: event.added, removed: event.removed, on: event.interface)
            else { return (nil, []) }
            defer { state.addressQuestions = [] }
            return (wanted, state.addressQuestions)
        }
        for id in stale { engine.stop(id) }
        if let wanted {
            ask(wanted, .a, on: event.interface.index)
            ask(wanted, .aaaa, on: event.interface.index)
        }
        gather()
    }

    /// What comes shortly after each other is told together.
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
        let news = state.withLock { state -> Place? in
            let place = state.place.told
            guard !state.hasEnded, place != state.told else { return nil }
            state.told = place
            return place
        }
        if let news { handler(news) }
    }
}
