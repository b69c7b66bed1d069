internal import CausewayProtocols
internal import Foundation

/// The credentials that one load or stream task sends to proxies.
struct ProxyAccess: Sendable {
    /// How a task handles a proxy's refusal.
    enum Step: Sendable {
        /// Connect again, and send a known credential without asking the program. The proxy has not received this
        /// credential yet.
        case again
        case offer([AuthenticationAttempts.Offer])
        case giveUp
    }

    /// The maximum number of reconnects without asking the program.
    private static let maximumRepetitions = 3

    var attempts = AuthenticationAttempts()
    /// The credential that the current request uses for the proxy. It is stored if the proxy accepts it.
    var accepted: (URLCredential, URLProtectionSpace)?
    /// Whether the next request must use a new connection.
    var needsNewConnection = false
    private var proposed: Set<URLCredential> = []
    private var repetitions = 0

    /// Decides how to handle a proxy's refusal.
    ///
    /// - Parameter schemes: The usable authentication schemes that authenticate a whole connection.
    mutating func next(after proxy: RefusedProxy, schemes: ConnectionSchemes) -> Step {
        accepted = nil
        // The proxy has not received the credential. Either the proxy closed the connection after its refusal, or the
        // connection began before the program supplied the credential.
        if proxy.hasUnsentCredential, repetitions < Self.maximumRepetitions {
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
        // The handshake with the proxy already handles new nonces and tokens. So sending the same credential again
        // cannot help.
        case .renew, .deliver: return .giveUp
        }
    }

    /// Records that the default handling of a challenge uses this credential. Returns whether it is used for the first
    /// time.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }
}
