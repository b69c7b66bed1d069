internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Updates a connection's establishment record.
extension ConnectionDriver.Progress {
    /// Begins a new establishment, which keeps the previous one's totals, route, route plan and relay. Requests stay
    /// queued in the protocols above the transport.
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

    /// Adds to the total number of attempts, and stores the number before the last one in the establishment's history.
    mutating func countAttempts(_ count: Int) {
        guard !establishments.isEmpty else { return }
        var last = establishments[0]
        last.attemptCount += count
        last.facts?.previousAttempts = last.attemptCount - 1
        if let firstStarted = last.firstStarted { last.facts?.started = firstStarted }
        establishments[0] = last
    }

    /// Records a failed establishment's history for later reports.
    mutating func noteDefeat(_ facts: EstablishmentFacts) {
        if !establishments.isEmpty { establishments[0].defeat = facts }
    }

    /// Records when an accepted connection's handshakes start; such a connection has no other establishment.
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
