/// Decides how one task handles its refusals with status 401 or 407 (RFC 9110 §11.6).
///
/// The owner asks its program or its store for a credential, one challenge after the other, and reports which one it used.
package struct AuthenticationAttempts: Sendable {
    /// A challenge that the program may answer.
    package struct Offer: Equatable, Sendable {
        package var space: ProtectionSpace
        package var challenge: AuthenticationChallenge
        /// How often a credential was refused in this space before.
        package var failureCount: Int
    }

    package enum Step: Equatable, Sendable {
        /// Offer these challenges in order, the strongest first, until one is answered. If none is, deliver the response.
        case offer([Offer])
        /// Send the request again with the same credential: only the nonce was too old (RFC 7616 §3.3).
        case renew(Offer)
        /// The response is the result: there is no challenge that the client supports, or the limit is reached.
        case deliver
    }

    /// The number of refusals after which a task ends.
    package static let defaultLimit = 20

    private let limit: Int
    private var refusalCount = 0
    private var failures: [ProtectionSpace: Int] = [:]
    /// The space whose credential the current request carries.
    private var current: ProtectionSpace?
    /// Whether the current request repeats one with a stale nonce. A server must not answer that with `stale` again.
    private var isRenewal = false

    package init(limit: Int = defaultLimit) { self.limit = limit }

    /// Notes that the next request carries a credential for `space`.
    package mutating func answered(_ space: ProtectionSpace) { current = space }

    /// Notes that the request goes to another authority, without a credential.
    package mutating func redirected() {
        current = nil
        isRenewal = false
    }

    /// Decides about a refusal.
    ///
    /// - Parameter values: The values of all fields `WWW-Authenticate` or `Proxy-Authenticate`.
    package mutating func refused(
        by authority: ProtectionSpace.Authority, challenges values: [String], digest: DigestFunction = Digests.builtIn
    ) -> Step {
        refusalCount += 1
        let answerable = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(values), digest: digest)
        guard refusalCount <= limit, !answerable.isEmpty else { return .deliver }
        let spaces = answerable.map { ProtectionSpace(authority: authority, challenge: $0) }
        if let used = current, let index = spaces.firstIndex(of: used), !isRenewal,
            DigestChallenge(answerable[index], digest: digest)?.isStale == true
        {
            isRenewal = true
            return .renew(Offer(space: used, challenge: answerable[index], failureCount: failures[used] ?? 0))
        }
        isRenewal = false
        if let used = current, used.authority == authority { failures[used, default: 0] += 1 }
        current = nil
        return .offer(
            zip(spaces, answerable).map { Offer(space: $0, challenge: $1, failureCount: failures[$0] ?? 0) })
    }
}
