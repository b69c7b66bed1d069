internal import CausewayProtocols
internal import Foundation

/// The credentials sent to proxies by a load or stream task.
struct ProxyAccess: Sendable {
    /// The answer to a refusal.
    enum Step: Sendable {
        /// Connect again without asking, because the proxy has not yet received the credential.
        case again
        case offer([AuthenticationAttempts.Offer])
        case giveUp
    }

    /// The maximum number of reconnects without asking.
    private static let maximumRepetitions = 3

    var attempts = AuthenticationAttempts()
    /// The credential to store after the proxy has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    /// Whether the next request needs a connection established after this point.
    var needsNewConnection = false
    private var proposed: Set<URLCredential> = []
    private var repetitions = 0

    /// Decides how to handle a refusal.
    ///
    /// - Parameter schemes: The connection schemes that can be answered.
    mutating func next(after proxy: RefusedProxy, schemes: ConnectionSchemes) -> Step {
        accepted = nil
        // A connection that closed after the refusal could not send a password, and one that began before the answer has none.
        if proxy.lacksCredential, repetitions < Self.maximumRepetitions {
            repetitions += 1
            return .again
        }
        let step =
            proxy.isSOCKS
            ? attempts.refused(bySOCKS: proxy.authority)
            : attempts.refused(
                by: proxy.authority, challenges: proxy.refusal.challenges, schemes: schemes)
        switch step {
        case .offer(let offers): return .offer(offers)
        // The handshake with the proxy renews the nonce and answers tokens, so only the credential can be wrong.
        case .renew, .deliver: return .giveUp
        }
    }

    /// Returns whether default handling has not yet tried a credential.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }
}
