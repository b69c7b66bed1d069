internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Connects through a proxy that relays datagrams.
///
/// First the proxy reports the address of its relay. Then the connection attempts go to that address.
extension Connector {
    func associate(_ request: RelayRequest) {
        let association = request.associate(settings, loop, resolver)
        progress.association = association
        association.begin { outcome in self.associated(outcome) }
    }

    private func associated(_ outcome: Result<Target, Failure>) {
        guard progress.phase.isRunning, let facts = progress.association?.facts else { return }
        progress.facts.resolution = facts.resolution
        progress.facts.queries = facts.queries
        progress.facts.attempts = facts.attempts
        switch outcome {
        case .success(let relay):
            progress.race.countOthers(facts.previousAttempts)
            progress.target = relay
            approach()
        case .failure(let failure):
            progress.race.countOthers(facts.attemptCount)
            finish(.failure(failure))
        }
    }
}
