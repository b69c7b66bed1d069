internal import CausewayProtocols
internal import Foundation

/// The credentials sent to proxies by a load or stream task.
struct ProxyAccess: Sendable {
    /// How a task handles a proxy's refusal.
    enum Step: Sendable {
        /// Connect again without asking the program, because the proxy has not yet received the credential.
        case again
        case offer([AuthenticationAttempts.Offer])
        case giveUp
    }

    /// The maximum number of reconnects without asking the program.
    private static let maximumRepetitions = 3

    var attempts = AuthenticationAttempts()
    /// The credential to store after the proxy has accepted it.
    var accepted: (URLCredential, URLProtectionSpace)?
    /// Whether the next request needs a new connection.
    var needsNewConnection = false
    private var proposed: Set<URLCredential> = []
    private var repetitions = 0

    /// Decides how to handle a proxy's refusal.
    ///
    /// - Parameter schemes: The schemes that authenticate a whole connection and can be answered.
    mutating func next(after proxy: RefusedProxy, schemes: ConnectionSchemes) -> Step {
        accepted = nil
        // The proxy has not received the credential: it closed the connection after its refusal, or the connection
        // began before the program supplied the credential.
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

    /// Records that default handling uses a credential. Returns whether it is the first use.
    mutating func isFirstUse(of credential: URLCredential) -> Bool { proposed.insert(credential).inserted }
}
