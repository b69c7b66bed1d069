internal import Causeway
internal import CausewaySystem
internal import CausewayTypes

/// A client's source for the network state. Tests replace it.
protocol ReachabilitySource: Sendable {
    /// Returns the current state.
    func current() -> Reachability
    /// Calls `body` after each possible change, until the returned closure is called.
    func follow(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// This computer's network state on the route to one host.
struct SystemReachability: ReachabilitySource {
    /// The host's address; `nil` if the host is a name. The path to an address can differ from the path to other hosts.
    private let address: NWEndpoint?

    init(host: String) {
        let name = host.lowercased().trimmingPrefix("[")
        let bare = name.hasSuffix("]") ? String(name.dropLast()) : String(name)
        let endpoint = NWEndpoint.Host(bare == "localhost" ? "127.0.0.1" : bare)
        switch endpoint {
        case .name: address = nil
        default: address = .hostPort(host: endpoint, port: .http)
        }
    }

    func current() -> Reachability {
        Reachability((address.flatMap { PathQuery.destination($0) } ?? PathQuery.everywhere()).path)
    }

    func follow(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let watch = PathQuery.follow(body)
        return { watch.cancel() }
    }
}

/// Follows the network state while something needs it.
final class NetworkWatch: Sendable {
    private struct State {
        var last: Reachability?
        var cancel: (@Sendable () -> Void)?
    }

    private let source: any ReachabilitySource
    private let state = LockedValue(State())
    private let changes = Broadcast<Reachability>()
    private let changed: @Sendable (Reachability) -> Void

    /// - Parameters:
    ///   - source: The source.
    ///   - changed: Called after each detected change.
    init(_ source: any ReachabilitySource, changed: @escaping @Sendable (Reachability) -> Void) {
        self.source = source
        self.changed = changed
    }

    deinit { state.withLock { $0.cancel }?() }

    /// The current state.
    var current: Reachability { source.current() }

    /// Returns a sequence of the current state and each change.
    func updates() -> AsyncStream<Reachability> {
        start()
        return changes.stream(capacity: 1, first: source.current())
    }

    /// Begins to follow the network. Further calls have no effect.
    func start() {
        let now = source.current()
        let isFirst = state.withLock { state in
            guard state.last == nil else { return false }
            state.last = now
            return true
        }
        guard isFirst else { return }
        let cancel = source.follow { [weak self] in self?.evaluate() }
        state.withLock { $0.cancel = cancel }
        // The network may have changed before the source was followed.
        evaluate()
    }

    private func evaluate() {
        let now = source.current()
        let isNew = state.withLock { state in
            defer { state.last = now }
            return state.last != now
        }
        guard isNew else { return }
        changed(now)
        changes.send { now }
    }
}
