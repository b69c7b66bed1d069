internal import CausewayProtocols
internal import CausewaySystem

/// The challenges of one HTTP proxy, and the credential that answers them, for a caller that can ask for a credential after a refusal.
package final class ProxyChallenges: Sendable {
    /// A refusal of the proxy.
    package struct Refusal: Sendable {
        /// The values of all fields `Proxy-Authenticate`.
        package var challenges: [String]
        /// Whether the proxy refused a credential.
        package var hadCredential: Bool
        /// The time of the monotonic clock.
        package var time: Duration
    }

    private struct State {
        var last: Refusal?
        /// The challenges that the next connection answers with its first request.
        var unanswered: [String] = []
        var credential: ProxyConfiguration.Credential?
    }

    private let state = LockedValue(State())

    package init() {}

    /// The last refusal.
    package var last: Refusal? { state.withLock { $0.last } }

    /// The credential that was given after a refusal. It takes precedence over that of the configuration.
    package var credential: ProxyConfiguration.Credential? { state.withLock { $0.credential } }

    /// Sets the credential for later connections.
    package func answer(username: String, password: String) {
        let credential = ProxyConfiguration.Credential(username: username, password: password)
        state.withLock { $0.credential = credential }
    }

    /// Returns the challenges of the last refusal. A Digest challenge is returned once, because its nonce must not be used again with an
    /// equal count.
    func takeUnanswered() -> [String] {
        state.withLock { state in
            let taken = state.unanswered
            let best = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(taken)).first
            if best?.scheme != "basic" { state.unanswered = [] }
            return taken
        }
    }

    /// Records a refusal.
    func note(_ refusal: ProxyRefusal) {
        let now = System.now
        state.withLock { state in
            state.last = Refusal(
                challenges: refusal.challenges, hadCredential: refusal.hadCredential, time: now)
            state.unanswered = refusal.challenges
        }
    }
}
