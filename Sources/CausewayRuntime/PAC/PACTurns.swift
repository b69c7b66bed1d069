internal import CausewaySystem
internal import DequeModule

/// Limits the number of PAC scripts that run at a time in this program. Each script needs a process and up to 16 MiB of
/// memory.
final class PACTurns: Sendable {
    static let shared = PACTurns(limit: 8)

    private struct State {
        var runningCount = 0
        var waiting: Deque<@Sendable () -> Void> = []
    }

    private let limit: Int
    private let state = LockedValue(State())

    init(limit: Int) { self.limit = limit }

    /// Calls `body` as soon as fewer scripts run than the limit permits. This is at once, or after an earlier script
    /// has finished. The work that `body` starts must call ``giveBack()`` once.
    func take(_ body: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            guard state.runningCount < limit else {
                state.waiting.append(body)
                return false
            }
            state.runningCount += 1
            return true
        }
        if isFree { body() }
    }

    func giveBack() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if state.waiting.isEmpty { state.runningCount -= 1 }
            return state.waiting.popFirst()
        }
        next?()
    }
}
