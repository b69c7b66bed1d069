internal import CausewaySystem

/// A gate at which tasks wait until a test opens it.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = LockedValue(State())

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate. All tasks that wait now or later may continue. May be called from any thread.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Suspends until the gate is open.
    ///
    /// Cancellation: has no effect; a test must open its gates.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
