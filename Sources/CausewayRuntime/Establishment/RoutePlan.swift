internal import CausewaySystem
package import CausewayTypes

/// Determines the routes to an endpoint if the parameters alone are not sufficient, for example because a PAC script
/// selects proxies.
package protocol RoutePlanner: Sendable {
    /// Determines the routes, and calls `completion` once on any thread. If the planning is cancelled first, there is
    /// no call. A successful result contains at least one route.
    func plan(
        on loop: any EventLoop, _ completion: @escaping @Sendable (Result<[Route], RouteProblem>) -> Void
    ) -> any RoutePlanning
}

/// A pending route computation.
package protocol RoutePlanning: Sendable {
    func cancel()
}

/// The reason why a connection has no route.
package struct RouteProblem: Error, Sendable {
    package var failure: Failure
    /// A human-readable description.
    package var reason: String

    package init(_ failure: Failure, _ reason: String) {
        self.failure = failure
        self.reason = reason
    }
}

/// The search for a connection's routes. While the planner works, this object holds the pending request to the planner.
/// Later it holds the planner's result.
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

    /// Starts the planner. Calls `completion` on any thread when the routes are known or the planner has failed, but
    /// not after ``cancel()``.
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
