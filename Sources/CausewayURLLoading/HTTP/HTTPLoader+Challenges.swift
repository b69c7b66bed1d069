internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Stores the accepted credential, if its persistence asks for that.
    func credentialAccepted(_ fields: FieldSection) {
        typealias Accepted = (URLCredential, URLProtectionSpace)
        let (space, owner, accepted, proxy) = withAccess {
            access -> (ProtectionSpace?, BoundConnections.Owner?, Accepted?, Accepted?) in
            let proxy = access.takeAcceptedByProxy()
            guard let space = access.credentials.space else { return (nil, nil, nil, proxy) }
            return (space, access.bound?.owner, access.accepted.take(), proxy)
        }
        if let space, let information = fields.firstValue(of: "Authentication-Info") {
            _ = network.withAuthorization { $0.received(information: information, in: space) }
        }
        if let proxy { network.proxyAccepted(proxy.0, for: proxy.1, askingTask) }
        guard let accepted, let space else { return }
        if let task = askingTask { network.settings.stores.credentials?.keep(accepted.0, for: accepted.1, task) }
        if ConnectionSchemes(scheme: space.scheme) != nil {
            network.noteNegotiated(accepted.0, of: space, owner: owner)
        }
    }

    // MARK: Challenges of the connection

    /// Passes a connection's challenge to the task. If the load ends first, default handling applies.
    func ask(_ space: URLProtectionSpace, _ once: ChallengeOnce) {
        guard withState({ $0.challengeArrived(once) }) else { return once.give(.performDefaultHandling, nil) }
        let stored = network.settings.stores.credentials?.defaultCredential(for: space)
        let answer: ChallengeAnswer = { [self] disposition, credential in
            withState { $0.challengeAnswered(once) }
            guard disposition == .performDefaultHandling, let stored, stored.identity != nil else {
                return once.give(disposition, credential)
            }
            once.give(.useCredential, stored)
        }
        guard attempt.task.hasDelegate || stored != nil else { return answer(.performDefaultHandling, nil) }
        let challenge = URLAuthenticationChallenge(space, proposed: stored)
        ask(challenge, answer)
    }
}
