internal import CausewayTypes

/// Decides how a task handles 401 and 407 responses (RFC 9110 §11.6).
///
/// The owner asks the program or a credential store for a credential, one challenge at a time. It then reports the
/// answered protection space with ``answered(_:)``.
package struct AuthenticationAttempts: Sendable {
    /// A challenge that the program may answer.
    package struct Offer: Equatable, Sendable {
        package var space: ProtectionSpace
        package var challenge: AuthenticationChallenge
        /// The number of credentials already refused in this protection space.
        package var failureCount: Int
    }

    package enum Step: Equatable, Sendable {
        /// Offer these challenges to the program in order, the strongest first, until it answers one. If it answers
        /// none, deliver the response.
        case offer([Offer])
        /// Send the request again with the same credential.
        ///
        /// Either only the nonce was stale (RFC 7616 §3.3), or the server continues a Negotiate or NTLM exchange with
        /// another token (RFC 4559 §5).
        case renew(Offer)
        /// Deliver the response to the program. Either the client supports none of the challenges, or the task has
        /// exceeded the maximum number of refusals.
        case deliver
    }

    /// The default maximum number of refusals in one task. After that number, the response is delivered.
    package static let defaultLimit = 20

    private let limit: Int
    private var refusalCount = 0
    private var failures: [ProtectionSpace: Int] = [:]
    /// The protection space of the current request's credential.
    private var current: ProtectionSpace?
    /// Whether the current request was sent again because the server had answered with `stale`: its nonce was too old.
    /// The server must not answer the repeated request with `stale` again.
    private var isRenewal = false

    package init(limit: Int = defaultLimit) { self.limit = limit }

    /// Records that the next request carries a credential for `space`.
    package mutating func answered(_ space: ProtectionSpace) { current = space }

    /// Records a redirect to another authority. The next request carries no credential.
    package mutating func redirected() {
        current = nil
        isRenewal = false
    }

    /// Decides how to handle a 401 or 407 response.
    ///
    /// - Parameters:
    ///   - authority: The server or the proxy.
    ///   - values: All `WWW-Authenticate` or `Proxy-Authenticate` field values.
    ///   - digest: Computes digests.
    ///   - schemes: The connection-based schemes (Negotiate, NTLM) that the client can answer.
    ///   - answersTokens: Whether the client can answer a token. If `false`, the exchange of tokens is complete, and
    ///     one more token means that the server refuses the user.
    package mutating func refused(
        by authority: ProtectionSpace.Authority, challenges values: [String], digest: DigestFunction = Digests.builtIn,
        schemes: ConnectionSchemes = [], answersTokens: Bool = true
    ) -> Step {
        refusalCount += 1
        let answerable = AuthenticationChallenge.answerable(
            AuthenticationChallenge.parse(values), digest: digest, schemes: schemes)
        guard refusalCount <= limit, !answerable.isEmpty else { return .deliver }
        let spaces = answerable.map { ProtectionSpace(authority: authority, challenge: $0) }
        if let used = current, let index = spaces.firstIndex(of: used), !isRenewal,
            DigestChallenge(answerable[index], digest: digest)?.isStale == true
        {
            isRenewal = true
            return .renew(Offer(space: used, challenge: answerable[index], failureCount: failures[used] ?? 0))
        }
        if let used = current, answersTokens, ConnectionSchemes(scheme: used.scheme) != nil,
            let index = spaces.firstIndex(of: used),
            answerable[index].token != nil
        {
            return .renew(Offer(space: used, challenge: answerable[index], failureCount: failures[used] ?? 0))
        }
        isRenewal = false
        if let used = current, used.authority == authority { failures[used, default: 0] += 1 }
        current = nil
        return .offer(
            zip(spaces, answerable).map { Offer(space: $0, challenge: $1, failureCount: failures[$0] ?? 0) })
    }

    /// Decides what to do after a SOCKS proxy has refused a connection.
    ///
    /// SOCKS has no challenges and no realms (RFC 1929). So the offer to the program contains a substitute challenge
    /// with an empty realm.
    package mutating func refused(bySOCKS authority: ProtectionSpace.Authority) -> Step {
        refusalCount += 1
        guard refusalCount <= limit else { return .deliver }
        let space = ProtectionSpace(authority: authority, realm: "", scheme: ProtectionSpace.passwordScheme)
        if current == space { failures[space, default: 0] += 1 }
        current = nil
        isRenewal = false
        let challenge = AuthenticationChallenge(scheme: space.scheme)
        return .offer([Offer(space: space, challenge: challenge, failureCount: failures[space] ?? 0)])
    }
}

extension AuthenticationAttempts: UntimedMachine {
    package typealias Action = Step

    package var hasEnded: Bool { false }
}
