internal import Causeway
internal import Foundation

/// A load that waits for a connection, whose challenges its task gets.
protocol ConnectingLoad: DrivenLoad {
    /// Whether a delegate can answer challenges.
    var hasDelegate: Bool { get }
}

/// A connection's challenge for the task of a load.
struct ConnectionQuestion: Sendable {
    let load: any ConnectingLoad
    let space: URLProtectionSpace

    /// Asks the task. Default handling applies if there is no delegate, and if the load does not wait for a connection
    /// or ends before the answer.
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
