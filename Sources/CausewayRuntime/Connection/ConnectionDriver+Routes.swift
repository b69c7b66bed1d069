internal import CausewaySystem
internal import CausewayTypes

/// Tries the routes to one endpoint in order. The next route follows when the previous route has failed: no address was
/// reachable, or the proxy refused the request.
extension ConnectionDriver {
    /// The current route; `nil` if the connection has only the direct route.
    package var route: Route? {
        progress.withLock { progress in
            (progress.establishments.first?.routes ?? RouteCursor()).current(frozen)
        }
    }

    /// Returns the target of the connection's first route, or `target` if there are no routes.
    func firstTarget(_ target: Connector.Target) -> Connector.Target {
        let first = progress.withLock { progress in
            (progress.establishments.first?.routes ?? RouteCursor()).routes(frozen).first
        }
        return first?.target ?? target
    }

    // MARK: Route planning

    /// A text for the user that explains why no route was found.
    package var routeProblem: String? {
        progress.withLock { progress in progress.establishments.first?.routes.plan }?.problem?.reason
    }

    /// Called when the planning of the routes has ended. Connects over the first route, or reports that planning
    /// failed.
    func planned(_ plan: RoutePlan) {
        guard let first = plan.routes?.first else {
            let failure = plan.problem?.failure ?? Failure(errno: Errno.notSupported)
            return transition { progress in
                progress.establishments.first?.routes.plan === plan
                    ? progress.lifecycle.endpointsExhausted(failure) : []
            }
        }
        _ = connect { $0.routes.plan === plan ? first.target : nil }
    }

    // MARK: Datagram relay

    /// Retains the association with a relaying proxy until the transport that uses it has ended. An earlier association
    /// is cancelled. If the connection has failed or is ending, the new association is cancelled instead.
    func hold(_ association: any DatagramRelay) {
        let unwanted = progress.withLock { progress -> (any DatagramRelay)? in
            guard progress.mayConnect else { return association }
            var old: (any DatagramRelay)?
            progress.record { establishment in
                old = establishment.association
                establishment.association = association
            }
            return old
        }
        unwanted?.cancel()
    }

    func dropAssociation() {
        let association = progress.withLock { progress in
            progress.establishments.isEmpty ? nil : progress.establishments[0].association.take()
        }
        association?.cancel()
    }

    // MARK: The next route

    /// Starts connection attempts over the next route. Returns `false` if there is no further route.
    func takeNextRoute() -> Bool {
        guard !frozen.routes.isEmpty || frozen.planner != nil else { return false }
        return connect { establishment in
            guard let next = establishment.routes.next(frozen) else { return nil }
            establishment.untried = []
            return next.target
        }
    }
}
