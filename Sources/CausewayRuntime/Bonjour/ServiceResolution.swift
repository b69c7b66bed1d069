internal import CausewayBonjourProtocols
package import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
package import CausewayWire

/// Resolves a service or a host name once, with multicast DNS.
///
/// When the first address arrives, the resolution collects further addresses for the time ``gathering``, and then ends.
/// If no address arrives within the time ``patience``, the resolution ends too. Confined to the engine's loop.
package final class ServiceResolution: Sendable {
    package typealias Completion = @Sendable (Result<[SocketAddress], NameProblem>) -> Void

    /// The maximum time to wait for an answer.
    private static let patience: Duration = .seconds(5)
    /// How long to wait after the first address for more addresses, mainly of the other family (RFC 8305 §3).
    private static let gathering: Duration = .milliseconds(50)

    private struct State {
        var completion: Completion?
        var questions: [QuestionID] = []
        var timer: TimerID?
        var port: UInt16
        var target: DNSName?
        /// The links on which the target's addresses are queried.
        var links: Set<Int> = []
        var addresses: [SocketAddress] = []
        var isGathering = false
    }

    private let engine: BonjourEngine
    private let state: LoopBound<State>

    private init(_ engine: BonjourEngine, port: UInt16, _ completion: @escaping Completion) {
        self.engine = engine
        state = LoopBound(State(completion: completion, port: port), to: engine.loop)
    }

    /// Resolves a service instance on the link (RFC 6763 §5).
    package static func service(
        _ instance: DNSName, on interfaceIndex: Int?, engine: BonjourEngine = .shared,
        _ completion: @escaping Completion
    ) -> ServiceResolution {
        let resolution = ServiceResolution(engine, port: 0, completion)
        engine.loop.execute {
            resolution.begin()
            resolution.ask(instance, .srv, on: interfaceIndex)
        }
        return resolution
    }

    /// Resolves a host name on the link.
    package static func host(
        _ name: DNSName, family: SocketAddress.Family?, engine: BonjourEngine = .shared,
        _ completion: @escaping Completion
    ) -> ServiceResolution {
        let resolution = ServiceResolution(engine, port: 0, completion)
        engine.loop.execute {
            resolution.begin()
            resolution.state.value.target = name
            if family != .ipv6 { resolution.ask(name, .a, on: nil) }
            if family != .ipv4 { resolution.ask(name, .aaaa, on: nil) }
        }
        return resolution
    }

    /// Ends the resolution without calling the completion handler.
    package func cancel() {
        engine.loop.execute { _ = self.end() }
    }

    private func begin() {
        state.value.timer = engine.loop.schedule(after: Self.patience) { self.finish() }
    }

    private func ask(_ name: DNSName, _ type: DNSRecordType, on interfaceIndex: Int?) {
        let id = engine.ask(DNSQuestion(name, type), on: interfaceIndex) { event in self.heard(event) }
        state.value.questions.append(id)
    }

    private func heard(_ event: QuestionEvent) {
        guard state.value.completion != nil else { return }
        for record in event.added {
            switch record.data {
            case .service(_, _, let port, let target): located(at: target, port, on: event.interface.index)
            case .ipv4(let address): found(SocketAddress(address, port: state.value.port))
            case .ipv6(let address):
                let scoped = IPv6Address(high: address.high, low: address.low, interface: event.interface)
                found(SocketAddress(scoped, port: state.value.port))
            default: break
            }
        }
    }

    /// Queries the addresses of the host that the first SRV record names. Does this on each link with an SRV record for
    /// this host.
    private func located(at target: DNSName, _ port: UInt16, on interfaceIndex: Int) {
        if state.value.target == nil { (state.value.target, state.value.port) = (target, port) }
        guard state.value.target == target, state.value.links.insert(interfaceIndex).inserted else { return }
        ask(target, .a, on: interfaceIndex)
        ask(target, .aaaa, on: interfaceIndex)
    }

    private func found(_ address: SocketAddress) {
        if !state.value.addresses.contains(address) { state.value.addresses.append(address) }
        guard !state.value.isGathering else { return }
        state.value.isGathering = true
        if let timer = state.value.timer { engine.loop.cancel(timer) }
        state.value.timer = engine.loop.schedule(after: Self.gathering) { self.finish() }
    }

    private func finish() {
        let addresses = state.value.addresses.sorted { $0.preference < $1.preference }
        end()?(addresses.isEmpty ? .failure(.notFound) : .success(addresses))
    }

    private func end() -> Completion? {
        if let timer = state.value.timer.take() { engine.loop.cancel(timer) }
        for id in state.value.questions { engine.stop(id) }
        state.value.questions = []
        return state.value.completion.take()
    }
}

extension SocketAddress {
    /// The address's rank; lower ranks come first. Larger scopes are preferred, then IPv6 (RFC 6724 §6).
    fileprivate var preference: Int {
        switch self {
        case .ipv6(let high, _, _, _): high >> 54 == 0x3FA ? 2 : 0
        case .ipv4(let bits, _): bits >> 16 == 0xA9FE ? 3 : 1
        case .unix: 4
        }
    }
}
