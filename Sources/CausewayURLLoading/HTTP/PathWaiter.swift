internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// Calls loaders that wait for connectivity when the network changes.
final class PathWaiter: Sendable {
    private struct State {
        var monitor: NWPathMonitor?
        var waiting: [@Sendable () -> Void] = []
    }

    private let queue = DispatchQueue(label: "causeway.url-session.path")
    private let state = LockedValue(State())

    /// Calls `body` once after the next change of the network that leaves a usable path.
    func wait(_ body: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(body)
            guard state.monitor == nil else { return false }
            state.monitor = NWPathMonitor()
            return true
        }
        guard isFirst, let monitor = state.withLock({ state in state.monitor }) else { return }
        // The first update reports the present state, which was not good enough.
        let isInitial = LockedValue(true)
        monitor.pathUpdateHandler = { [weak self] path in
            let wasInitial = isInitial.withLock { isInitial in
                defer { isInitial = false }
                return isInitial
            }
            if !wasInitial, path.status == .satisfied { self?.changed() }
        }
        monitor.start(queue: queue)
    }

    private func changed() {
        let (monitor, waiting) = take()
        monitor?.cancel()
        for body in waiting { body() }
    }

    private func take() -> (NWPathMonitor?, [@Sendable () -> Void]) {
        state.withLock { state in
            defer { state = State() }
            return (state.monitor, state.waiting)
        }
    }

    /// Forgets all waiting loaders.
    func close() { take().0?.cancel() }

    deinit { close() }
}
