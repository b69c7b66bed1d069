internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Resolves a service in a unicast domain once: first its SRV records (RFC 2782), then the addresses of the hosts in
/// these records.
///
/// Confined to the resolver's loop, except ``begin(_:)`` and ``cancel()``.
final class WideAreaResolution: NameResolving {
    private struct Target {
        var host: DNSName
        var port: UInt16
        var addresses: [SocketAddress] = []
        var awaited = 2
    }

    private struct State {
        var completion: ServiceResolution.Completion?
        var targets: [Target] = []
        var problem: NameProblem?
        /// The closures that cancel the DNS queries. Calling one after its query was answered does nothing.
        var questions: [@Sendable () -> Void] = []
    }

    /// The maximum number of hosts to look up for one service.
    private static let hostLimit = 8

    private let resolver: ResolverEngine
    private let scope: ResolutionScope
    private let state: LoopBound<State>

    /// - Parameters:
    ///   - resolver: The resolver, to whose loop this object is confined.
    ///   - scope: The interfaces for queries.
    ///   - completion: Called once on the resolver's loop, with the addresses in the order in which to try them.
    init(_ resolver: ResolverEngine, _ scope: ResolutionScope, _ completion: @escaping ServiceResolution.Completion) {
        self.resolver = resolver
        self.scope = scope
        state = LoopBound(State(completion: completion), to: resolver.loop)
    }

    func begin(_ instance: DNSName) {
        resolver.withSettings { _ in self.ask(instance, .srv) { answer in self.located(answer) } }
    }

    /// Ends the resolution without calling the completion handler.
    func cancel() {
        resolver.loop.execute {
            self.state.value.completion = nil
            for cancel in self.state.value.questions { cancel() }
            self.state.value.questions = []
        }
    }

    private func ask(_ name: DNSName, _ type: DNSRecordType, _ body: @escaping @Sendable (DNSAnswer) -> Void) {
        guard state.value.completion != nil else { return }
        let cancel = resolver.question(name, type, scope, 0) { answer, _ in
            if self.state.value.completion != nil { body(answer) }
        }
        guard let cancel else { return }
        if state.value.completion == nil { cancel() } else { state.value.questions.append(cancel) }
    }

    private func located(_ answer: DNSAnswer) {
        if case .failed(let failure) = answer.finding { state.value.problem = NameProblem(failure) }
        // Leave out link-local names. They must not be sent to DNS servers.
        let services = answer.records.compactMap { ServiceTarget($0) }.filter { !$0.host.isOfLink }
        var random = SystemRandomNumberGenerator()
        state.value.targets = ServiceTarget.ordered(services, using: &random).prefix(Self.hostLimit)
            .map { Target(host: $0.host, port: $0.port) }
        guard !state.value.targets.isEmpty else { return finish() }
        for index in state.value.targets.indices {
            for type in [DNSRecordType.aaaa, .a] {
                ask(state.value.targets[index].host, type) { answer in self.found(answer, at: index) }
            }
        }
    }

    private func found(_ answer: DNSAnswer, at index: Int) {
        let port = state.value.targets[index].port
        let addresses = answer.records.compactMap { InternetAddress($0.data) }.map { SocketAddress($0, port: port) }
        state.value.targets[index].addresses += addresses
        state.value.targets[index].awaited -= 1
        if case .failed(let failure) = answer.finding { state.value.problem = NameProblem(failure) }
        if state.value.targets.allSatisfy({ $0.awaited == 0 }) { finish() }
    }

    private func finish() {
        let addresses = state.value.targets.flatMap(\.addresses)
        let problem = state.value.problem ?? .notFound
        state.value.questions = []
        state.value.completion.take()?(addresses.isEmpty ? .failure(problem) : .success(addresses))
    }
}

extension ServiceResolution: NameResolving {
    /// Resolves a service instance on the link or in a unicast domain. The completion handler is called once, or not at
    /// all if the resolution is cancelled first.
    static func find(
        _ instance: DNSName, on interfaceIndex: Int?, _ completion: @escaping Completion
    ) -> any NameResolving {
        guard !instance.isOfLink else { return service(instance, on: interfaceIndex, completion) }
        var scope = ResolutionScope()
        scope.required = interfaceIndex.flatMap { NWInterface(index: $0) }
        let resolution = WideAreaResolution(.shared, scope, completion)
        resolution.begin(instance)
        return resolution
    }
}
