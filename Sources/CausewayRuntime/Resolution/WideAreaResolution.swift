internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
package import CausewayWire

/// Resolves a service in a unicast domain once: its SRV record (RFC 2782), then its hosts' addresses.
///
/// Confined to the resolver's loop.
final class WideAreaResolution: Sendable {
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
        resolver.ask(instance, .srv, scope: scope) { answer, _ in self.located(answer) }
    }

    private func located(_ answer: DNSAnswer) {
        if case .failed(let failure) = answer.finding { state.value.problem = NameProblem(failure) }
        // Link-local names must not be sent to DNS servers.
        let services = answer.records.compactMap { ServiceTarget($0) }.filter { !$0.host.isOfLink }
        var random = SystemRandomNumberGenerator()
        state.value.targets = ServiceTarget.ordered(services, using: &random).prefix(Self.hostLimit)
            .map { Target(host: $0.host, port: $0.port) }
        guard !state.value.targets.isEmpty else { return finish() }
        for index in state.value.targets.indices {
            for type in [DNSRecordType.aaaa, .a] {
                resolver.ask(state.value.targets[index].host, type, scope: scope) { answer, _ in
                    self.found(answer, at: index)
                }
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
        state.value.completion.take()?(addresses.isEmpty ? .failure(problem) : .success(addresses))
    }
}

extension ServiceResolution {
    /// Resolves a service instance on the link or in a unicast domain.
    package static func find(_ instance: DNSName, on interfaceIndex: Int?, _ completion: @escaping Completion) {
        guard !instance.isOfLink else {
            _ = service(instance, on: interfaceIndex, completion)
            return
        }
        var scope = ResolutionScope()
        scope.required = interfaceIndex.flatMap { NWInterface(index: $0) }
        WideAreaResolution(.shared, scope, completion).begin(instance)
    }
}
