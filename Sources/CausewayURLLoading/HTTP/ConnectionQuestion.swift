internal import Causeway
internal import Foundation

/// A load that waits for a connection. The load's task receives the connection's challenges.
protocol ConnectingLoad: DrivenLoad {
    /// Whether the program has a delegate that can answer challenges.
    var hasDelegate: Bool { get }
}

/// A connection's authentication challenge. It is passed to the task of a load that waits for the connection.
struct ConnectionQuestion: Sendable {
    let load: any ConnectingLoad
    let space: URLProtectionSpace

    /// Passes the challenge to the load's task. Default handling applies if there is no delegate, if the load no longer
    /// waits for a connection, or if the load ends before the answer.
    func ask(_ challenge: ChallengeOnce) {
        guard load.withState({ $0.challengeArrived(challenge) }) else {
            return challenge.give(.performDefaultHandling, nil)
        }
        let stored = load.network.settings.stores.credentials?.defaultCredential(for: space)
        let answer: ChallengeAnswer = { disposition, credential in
            load.withState { $0.challengeAnswered(challenge) }
            guard disposition == .performDefaultHandling, let stored, stored.identity != nil else {
                return challenge.give(disposition, credential)
            }
            challenge.give(.useCredential, stored)
        }
        guard load.hasDelegate || stored != nil else { return answer(.performDefaultHandling, nil) }
        load.ask(URLAuthenticationChallenge(space, proposed: stored), answer)
    }
}
