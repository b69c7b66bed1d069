internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Runs one ``NameLookup``. All members except ``cancel()`` are confined to the resolver's loop.
final class NameResolution: NameResolving {
    private struct State {
        /// The lookup; `nil` before the host's files have been read.
        var lookup: NameLookup?
        var report: (@Sendable (NameEvent) -> Void)?
        /// The queries that are still running. Each has a closure that cancels the query.
        var questions: [(name: DNSName, type: DNSRecordType, cancel: @Sendable () -> Void)] = []
        var link: ServiceResolution?
    }

    private let request: NameRequest
    private let engine: ResolverEngine
    private let state: LoopBound<State>

    init(_ request: NameRequest, _ engine: ResolverEngine, _ report: @escaping @Sendable (NameEvent) -> Void) {
        self.request = request
        self.engine = engine
        state = LoopBound(State(report: report), to: engine.loop)
    }

    func cancel() {
        engine.loop.execute {
            self.state.value.report = nil
            self.stop()
        }
    }

    func begin(in context: ResolverEnvironment) {
        guard state.value.report != nil else { return }
        state.value.lookup = NameLookup(request.name, families: request.families, in: context)
        change { $0.begin() }
    }

    private func change(_ event: (inout NameLookup) -> [NameLookup.Action]) {
        // A multicast DNS answer may still arrive after the cancellation. It must not start another query.
        guard state.value.report != nil, var lookup = state.value.lookup.take() else { return }
        let actions = event(&lookup)
        state.value.lookup = lookup
        perform(actions)
    }

    private func perform(_ actions: [NameLookup.Action]) {
        for action in actions {
            switch action {
            case .ask(let name, let type): ask(name, type)
            case .askLink(let name): askLink(name)
            case .found(let addresses, let family, let origin):
                report(.found(addresses.map { SocketAddress($0, port: 0) }, family, origin))
            case .settled(let family): report(.settled(family))
            case .end(let problem):
                let report = state.value.report.take()
                stop()
                report?(.ended(problem))
            }
        }
    }

    private func report(_ event: NameEvent) { state.value.report?(event) }

    private func ask(_ name: DNSName, _ type: DNSRecordType) {
        let cancel = engine.question(
            name, type, request.scope, request.partition, allowingExpired: request.allowsExpired
        ) { answer, origin in self.answered(name, type, answer, origin) }
        guard let cancel else { return }
        if state.value.report == nil { cancel() } else { state.value.questions.append((name, type, cancel)) }
    }

    private func answered(_ name: DNSName, _ type: DNSRecordType, _ answer: DNSAnswer, _ origin: AddressOrigin) {
        guard state.value.report != nil else { return }
        // An answer that comes from the cache may have expired. In that case, keep the query in the list, because the
        // query for a fresh answer is still pending.
        if origin != .expiredCache { state.value.questions.removeAll { $0.type == type && $0.name == name } }
        report(.answered(type, answer, origin))
        change { $0.answered(name, type, with: answer, from: origin) }
    }

    private func askLink(_ name: DNSName) {
        let families = request.families
        let family: SocketAddress.Family? = families.count > 1 ? nil : families.contains(.ipv6) ? .ipv6 : .ipv4
        state.value.link = ServiceResolution.host(name, family: family) { result in
            self.engine.loop.execute {
                let found = (try? result.get()) ?? []
                self.change { $0.linkAnswered(found.compactMap(\.internetAddress)) }
            }
        }
    }

    private func stop() {
        for question in state.value.questions { question.cancel() }
        state.value.questions = []
        state.value.link.take()?.cancel()
    }
}
