internal import CausewaySystem
internal import CausewayTypes

/// Tries the routes to one endpoint in order. The next route follows when the previous one has failed: no address was
/// reachable, or the proxy refused the request.
extension ConnectionDriver {
    /// The current route; `nil` if the connection has only the direct one.
    package var route: Route? {
        progress.withLock { progress in
            let number = progress.establishments.first?.route ?? 0
            let routes = routes(progress)
            return number < routes.count ? routes[number] : nil
        }
    }

    /// Returns the first route's target, or `target` if there are no routes.
    func firstTarget(_ target: Connector.Target) -> Connector.Target {
        progress.withLock { progress in routes(progress) }.first?.target ?? target
    }

    private func routes(_ progress: borrowing Progress) -> [Route] {
        progress.establishments.first?.plan?.routes ?? frozen.routes
    }

    // MARK: Route planning

    /// Why no route was found, as text for the user.
    package var routeProblem: String? {
        progress.withLock { progress in progress.establishments.first?.plan }?.problem?.reason
    }

    /// Continues after route planning: connects over the first route, or reports the planning failure.
    func planned(_ plan: RoutePlan) {
        guard let first = plan.routes?.first else {
            let failure = plan.problem?.failure ?? Failure(errno: Errno.notSupported)
            return transition { progress in
                progress.establishments.first?.plan === plan ? progress.lifecycle.endpointsExhausted(failure) : []
            }
        }
        let connector = progress.withLock { progress -> Connector? in
            guard case .connect(_, let resolver) = progress.origin, case .preparing = progress.lifecycle.state,
                progress.establishments.first?.plan === plan
            else { return nil }
            let connector = makeConnector(first.target, resolver)
            progress.establishments[0].connector = connector
            return connector
        }
        connector?.start()
    }

    // MARK: Datagram relay

    /// Retains the association with a proxy until the transport over it has ended. Cancels an earlier one.
    func hold(_ association: any DatagramRelay) {
        let unwanted = progress.withLock { progress -> (any DatagramRelay)? in
            guard !progress.lifecycle.isEnding else { return association }
            if progress.establishments.isEmpty { progress.establishments = [Establishment()] }
            let old = progress.establishments[0].association
            progress.establishments[0].association = association
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

    /// Starts attempts over the next route. Returns `false` if there is none.
    func takeNextRoute() -> Bool {
        guard !frozen.routes.isEmpty || frozen.planner != nil else { return false }
        let connector = progress.withLock { progress -> Connector? in
            guard case .connect(_, let resolver) = progress.origin, case .preparing = progress.lifecycle.state,
                let next = progress.establishments.first.map({ $0.route + 1 }), next < routes(progress).count
            else { return nil }
            let connector = makeConnector(routes(progress)[next].target, resolver)
            progress.establishments[0].route = next
            progress.establishments[0].untried = []
            progress.establishments[0].connector = connector
            return connector
        }
        connector?.start()
        return connector != nil
    }
}
