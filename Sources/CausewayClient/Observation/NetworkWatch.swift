internal import Causeway
internal import CausewaySystem
internal import CausewayTypes

/// A client's source for the network state. Tests replace it.
protocol ReachabilitySource: Sendable {
    /// Returns the current state.
    func current() -> Reachability
    /// Calls `body` whenever the network state may have changed, until the returned closure is called.
    func follow(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// Reports whether this computer's network has a route to one host.
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

/// Follows the network state from the first call of ``start()`` or ``updates()`` until this object is released.
final class NetworkWatch: Sendable {
    private struct State {
        var isStarted = false
        /// Two flags for the evaluation of the network state.
        ///
        /// `isEvaluating` is `true` while a thread evaluates it. `mustRepeat` is `true` if that thread must evaluate it
        /// again, because the state may have changed in the meantime.
        var isEvaluating = false
        var mustRepeat = false
        var last: Reachability?
        var cancel: (@Sendable () -> Void)?
    }

    private let source: any ReachabilitySource
    private let state = LockedValue(State())
    private let changes = ValueBroadcast<Reachability>()
    private let changed: @Sendable (Reachability) -> Void

    /// - Parameters:
    ///   - source: The source of the network state.
    ///   - changed: Called with the current state after the first call of ``start()``, and after each detected change.
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
        return changes.stream { source.current() }
    }

    /// Begins to follow the network. Later calls have no effect.
    func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        let cancel = source.follow { [weak self] in self?.evaluate() }
        state.withLock { $0.cancel = cancel }
        evaluate()
    }

    /// Compares the state with the last one. Only one thread at a time does this: otherwise a slow thread could report
    /// an older state after a newer one.
    private func evaluate() {
        while begin() {
            let now = source.current()
            let isNew = state.withLock { state in
                defer { state.last = now }
                return state.last != now
            }
            if isNew {
                changed(now)
                changes.changed { source.current() }
            }
            let mustRepeat = state.withLock { state in
                state.isEvaluating = false
                return state.mustRepeat
            }
            guard mustRepeat else { return }
        }
    }

    /// Returns whether this thread must evaluate the network state. If another thread is evaluating the state, the
    /// result is `false`. The other thread then evaluates the state again, so that no change is missed.
    private func begin() -> Bool {
        state.withLock { state in
            state.mustRepeat = state.isEvaluating
            defer { state.isEvaluating = true }
            return !state.isEvaluating
        }
    }
}
