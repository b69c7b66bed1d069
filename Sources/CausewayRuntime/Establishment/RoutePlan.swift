internal import CausewaySystem
package import CausewayTypes

/// Finds the ways to an endpoint, where that takes longer than looking at the parameters.
package protocol RoutePlanner: Sendable {
    /// Calls `completion` once, on any thread, unless it is cancelled before: with one way at least.
    func plan(
        on loop: any EventLoop, _ completion: @escaping @Sendable (Result<[Route], RouteProblem>) -> Void
    ) -> any RoutePlanning
}

/// Planning under way.
package protocol RoutePlanning: Sendable {
    func cancel()
}

/// Why there is no way.
package struct RouteProblem: Error, Sendable {
    package var failure: Failure
    /// For a person.
    package var reason: String

    package init(_ failure: Failure, _ reason: String) {
        self.failure = failure
        self.reason = reason
    }
}

/// The ways of one chapter of a connection's making, from when they are asked for.
final class RoutePlan: Sendable {
    private struct State {
        var outcome: Result<[Route], RouteProblem>?
        var planning: (any RoutePlanning)?
        var isCancelled = false
    }

    private let state = LockedValue(State())

    var routes: [Route]? { try? state.withLock { $0.outcome }?.get() }
    var isUnderWay: Bool { state.withLock { $0.outcome == nil && !$0.isCancelled } }

    var problem: RouteProblem? {
        guard case .failure(let problem) = state.withLock({ $0.outcome }) else { return nil }
        return problem
    }

    /// Calls `completion` once the plan is made, on any thread.
    func begin(
        _ planner: any RoutePlanner, on loop: any EventLoop, _ completion: @escaping @Sendable (RoutePlan) -> Void
    ) {
        guard isUnderWay else { return }
        let planning = planner.plan(on: loop) { outcome in
            let isWanted = self.state.withLock { state in
                state.planning = nil
                guard state.outcome == nil, !state.isCancelled else { return false }
                state.outcome = outcome
                return true
            }
            if isWanted { completion(self) }
        }
        let isLate = state.withLock { state in
            if state.outcome == nil, !state.isCancelled { state.planning = planning }
            return state.isCancelled
        }
        if isLate { planning.cancel() }
    }

    func cancel() {
        let planning = state.withLock { state in
            state.isCancelled = true
            return state.planning.take()
        }
        planning?.cancel()
    }
}
