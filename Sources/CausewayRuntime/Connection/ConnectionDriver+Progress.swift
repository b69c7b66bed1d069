internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// What is noted of a connection's making.
extension ConnectionDriver.Progress {
    mutating func nextAction() -> ConnectionDriver.Lifecycle.Action? {
        let action = actions.popFirst()
        if action == nil {
            isPerforming = false
            // The storage goes too: most connections only ever begin and end.
            actions = InlineFirstQueue()
        }
        return action
    }

    /// Begins another chapter of the connection's making. The protocols above stay: requests wait with them.
    mutating func establish(_ establishment: ConnectionDriver.Establishment) {
        var establishment = establishment
        establishment.firstStarted = establishments.first?.firstStarted
        establishment.attemptCount = establishments.first?.attemptCount ?? 0
        establishment.wasRetriedAtOnce =
            establishment.wasRetriedAtOnce || establishments.first?.wasRetriedAtOnce ?? false
        establishment.defeat = establishments.first?.defeat
        establishment.route = establishments.first?.route ?? 0
        establishment.plan = establishment.plan ?? establishments.first?.plan
        establishment.association = establishments.first?.association
        establishments = [establishment]
    }

    /// Attempts were made. What is known of the connection's making counts those before the last of them.
    mutating func countAttempts(_ count: Int) {
        guard !establishments.isEmpty else { return }
        var last = establishments[0]
        last.attemptCount += count
        last.facts?.previousAttempts = last.attemptCount - 1
        if let firstStarted = last.firstStarted { last.facts?.started = firstStarted }
        establishments[0] = last
    }

    /// What was tried in vain, for those who want to tell.
    mutating func noteDefeat(_ facts: EstablishmentFacts) {
        if !establishments.isEmpty { establishments[0].defeat = facts }
    }

    /// What a listener accepted comes about by its protocols alone.
    mutating func beginAgreement() {
        guard !establishments.isEmpty, establishments[0].facts == nil else { return }
        var facts = EstablishmentFacts()
        (facts.started, facts.attemptStarted) = (System.now, System.now)
        establishments[0].facts = facts
    }

    mutating func noteAgreement(_ baseline: EstablishmentFacts.Baseline) {
        guard !establishments.isEmpty else { return }
        establishments[0].facts?.finished = System.now
        establishments[0].facts?.baseline = baseline
    }

    mutating func takeConnector() -> Connector? {
        establishments.isEmpty ? nil : establishments[0].connector.take()
    }

    mutating func takeWatch() -> NetworkStateMonitor.Subscription? {
        establishments.isEmpty ? nil : establishments[0].watch.take()
    }
}
