internal import CausewayProtocols
internal import Foundation

/// The credentials that a load or a stream task has given to proxies.
struct ProxyAccess: Sendable {
    /// A credential whose tokens answer the proxy.
    struct Negotiating: Sendable {
        let credential: URLCredential
        let offer: AuthenticationAttempts.Offer
    }

    /// The answer to a refusal.
    enum Step: Sendable {
        /// Connect again without a question, because the proxy has not yet seen the credential.
        case again
        /// Connect again with another token of the same credential.
        case token(Negotiating)
        case offer([AuthenticationAttempts.Offer])
        case giveUp
    }

    /// The maximum number of connections that are tried again without a question.
    private static let maximumRepetitions = 3

    var attempts = AuthenticationAttempts()
    /// The credential to store after the proxy has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    /// The last credential for Negotiate; `nil` after another one, or a refusal.
    var negotiating: Negotiating?
    private var proposed: Set<URLCredential> = []
    private var repetitions = 0

    /// Decides how to handle a refusal.
    ///
    /// - Parameter negotiates: Whether Negotiate can be answered.
    mutating func next(after proxy: RefusedProxy, negotiates: Bool) -> Step {
        accepted = nil
        // Another connection can have taken the token. A connection that closed after the refusal could not send a password.
        if !proxy.refusal.hadCredential, repetitions < Self.maximumRepetitions {
            repetitions += 1
            if let negotiating { return .token(negotiating) }
            if proxy.lacksCredential { return .again }
            repetitions -= 1
        }
        negotiating = nil
        let step =
            proxy.isSOCKS
            ? attempts.refused(bySOCKS: proxy.authority)
            : attempts.refused(
                by: proxy.authority, challenges: proxy.refusal.challenges, negotiates: negotiates)
        switch step {
        case .offer(let offers): return .offer(offers)
        // The handshake with the proxy renews the nonce, so only the credential can be wrong. A negotiation of several steps needs one
        // connection for all of them, and the refused one is gone.
        case .renew, .deliver: return .giveUp
        }
    }

    /// Returns whether the default handling has not yet tried a credential.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }
}
