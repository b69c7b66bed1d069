internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Follows where a service is, or what it says of itself, until it ends.
final class ServiceLookup: Sendable {
    enum Wish: Sendable { case place, text }

    /// What is known so far.
    struct Place: Sendable, Equatable {
        var host: DNSName?
        var port: UInt16 = 0
        var addresses: [SocketAddress] = []
        var text: [UInt8]?
    }

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
        var wanted: DNSName?
        var stale: [QuestionID] = []
        state.withLock { state in
            for record in event.removed {
                state.place.addresses.removeAll { $0 == record.address(on: event.interface) }
            }
            for record in event.added {
                switch record.data {
                case .service(_, _, let port, let target):
                    state.place.port = port
                    guard state.place.host != target else { continue }
                    stale = state.addressQuestions
                    state.addressQuestions = []
                    (state.place.host, state.place.addresses) = (target, [])
                    wanted = target
                case .text(let text): state.place.text = text == [0] ? [] : text
                default:
                    guard let address = record.address(on: event.interface) else { continue }
                    if !state.place.addresses.contains(address) { state.place.addresses.append(address) }
                }
            }
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
            guard !state.hasEnded, state.place != state.told else { return nil }
            // The port as well may have come last.
            let port = state.place.port
            state.place.addresses = state.place.addresses.map { $0.withPort(port) }
            state.told = state.place
            return state.place
        }
        if let news { handler(news) }
    }
}

extension DNSRecord {
    fileprivate func address(on interface: NWInterface) -> SocketAddress? {
        switch data {
        case .ipv4(let address): SocketAddress(address, port: 0)
        case .ipv6(let address):
            SocketAddress(IPv6Address(high: address.high, low: address.low, interface: interface), port: 0)
        default: nil
        }
    }
}

extension SocketAddress {
    fileprivate func withPort(_ port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope): .ipv6(high: high, low: low, port: port, scope: scope)
        case .unix: self
        }
    }
}
