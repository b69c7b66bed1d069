internal import CausewaySystem
internal import CausewayTypes

/// Several ways to one endpoint: each is tried when the one before it has failed, be it for its addresses or for what the proxy says.
extension ConnectionDriver {
    /// The way that is taken; `nil` where there is nothing but the direct one.
    package var route: Route? {
        progress.withLock { progress in
            let number = progress.establishments.first?.route ?? 0
            let routes = routes(progress)
            return number < routes.count ? routes[number] : nil
        }
    }

    /// Where the best way begins.
    func firstTarget(_ target: Connector.Target) -> Connector.Target {
        progress.withLock { progress in routes(progress) }.first?.target ?? target
    }

    private func routes(_ progress: borrowing Progress) -> [Route] {
        progress.establishments.first?.plan?.routes ?? frozen.routes
    }

    // MARK: Ways that have to be found

    /// Why there is no way, for a person.
    package var routeProblem: String? {
        progress.withLock { progress in progress.establishments.first?.plan }?.problem?.reason
    }

    /// The ways are known, or that there are none.
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

    // MARK: What relays datagrams

    /// Keeps an association for as long as the transport is there that it is for.
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

    // MARK: The next way

    /// Begins with the next way, if there is one.
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
