internal import Causeway
internal import CausewaySystem
internal import Foundation

/// Handles challenges from proxies. After a challenge has been answered, the task connects again.
extension StreamChannel: ProxyUser {
    /// Handles a connection that a proxy refused because it demands a credential. Uses the session's credential, or
    /// asks the program for one.
    ///
    /// - Returns: `false` if the error has another cause.
    func isAnswered(_ error: NWError) -> Bool {
        let started = state.withLock { state in state.stream == nil ? state.start : nil }
        guard let started, case .endpoint(let endpoint, _, _) = origin,
            let proxy = network.refusedProxy(to: endpoint, since: started)
        else { return false }
        leaveConnection()
        let failure = LoadFailure(connecting: error, nil, network.settings.access.options)
        let obstacle = network.obstacle(of: proxy)
        answer(
            ProxyDemand(proxy: proxy, error: failure.urlError(for: nil)) { [self] in failConnecting(error, obstacle) })
        return true
    }

    /// Ends the refused connection. Its later state changes are ignored.
    private func leaveConnection() {
        let refused = state.withLock { state in
            state.start = nil
            return state.connection.take()
        }
        refused?.stateUpdateHandler = nil
        refused?.betterPathUpdateHandler = nil
        refused?.forceCancel()
    }

    /// Stores the credential accepted by the proxy.
    func storeAcceptedCredential() {
        guard let (credential, space) = state.withLock({ state in state.proxy?.accepted.take() }) else { return }
        network.proxyAccepted(credential, for: space, askingTask)
    }

    // MARK: ProxyUser

    var askingTask: URLSessionTask? { state.withLock { state in state.core }?.task }

    func withProxyAccess<Result: Sendable>(_ body: (inout ProxyAccess) -> Result) -> Result {
        state.withLock { state in
            var access = state.proxy ?? ProxyAccess()
            defer { state.proxy = access }
            return body(&access)
        }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        state.withLock { state in state.core }?.perform { core in core.ask(challenge, answer) }
    }

    func connectAgain(isNew: Bool) {
        // Connect only if the task still exists. It can end while the program is answering the proxy's challenge.
        guard state.withLock({ state in state.core != nil }), case .endpoint(let endpoint, _, _) = origin else {
            return
        }
        connect(to: endpoint)
    }
}
