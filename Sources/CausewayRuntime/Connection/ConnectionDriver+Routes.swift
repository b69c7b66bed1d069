internal import CausewayTypes

/// Several ways to one endpoint: each is tried when the one before it has failed, be it for its addresses or for what the proxy says.
extension ConnectionDriver {
    /// The way that is taken; `nil` where there is nothing but the direct one.
    package var route: Route? {
        let number = progress.withLock { progress in progress.establishments.first?.route ?? 0 }
        return number < frozen.routes.count ? frozen.routes[number] : nil
    }

    /// Where the best way begins.
    func firstTarget(_ target: Connector.Target) -> Connector.Target { frozen.routes.first?.target ?? target }

    // MARK: What relays datagrams

    /// Keeps an association for as long as the transport is there that it is for.
    func hold(_ association: RelayAssociation) {
        let unwanted = progress.withLock { progress -> RelayAssociation? in
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
        guard !frozen.routes.isEmpty else { return false }
        let connector = progress.withLock { progress -> Connector? in
            guard case .connect(_, let resolver) = progress.origin, case .preparing = progress.lifecycle.state,
                let next = progress.establishments.first.map({ $0.route + 1 }), next < frozen.routes.count
            else { return nil }
            let connector = makeConnector(frozen.routes[next].target, resolver)
            progress.establishments[0].route = next
            progress.establishments[0].untried = []
            progress.establishments[0].connector = connector
            return connector
        }
        connector?.start()
        return connector != nil
    }
}
