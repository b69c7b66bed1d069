package import CausewayProtocols

/// The credentials that a load sends to the server, and their refusals.
package struct LoadCredentials: Sendable {
    /// The protection space whose credential the current request carries; `nil` if it carries none.
    package private(set) var space: ProtectionSpace?
    /// The password that was sent last. With another nonce, it can answer a challenge again.
    package private(set) var password: PasswordCredential?
    private var attempts = AuthenticationAttempts()
    private var nextField: String?

    package init() {}

    /// Reports a challenge of the server.
    ///
    /// - Parameter answersTokens: Whether a token in the challenge can be answered. If not, a negotiation is over.
    /// - Returns: The next step, and the protection space whose credential the server has refused.
    package mutating func refused(
        by origin: HTTPOrigin, challenges: [String], schemes: ConnectionSchemes = [], answersTokens: Bool = true
    ) -> (step: AuthenticationAttempts.Step, space: ProtectionSpace?) {
        let step = attempts.refused(
            by: .origin(origin), challenges: challenges, schemes: schemes, answersTokens: answersTokens)
        defer { space = nil }
        return (step, space)
    }

    /// Reports the value of the field `Authorization` that answers a challenge. The next request carries it.
    package mutating func answered(
        in space: ProtectionSpace, with field: String, password: PasswordCredential? = nil
    ) {
        nextField = field
        if let password { self.password = password }
        sent(in: space)
    }

    /// Reports that the next request carries a credential that the server has accepted before.
    package mutating func sent(in space: ProtectionSpace) {
        self.space = space
        attempts.answered(space)
    }

    /// Reports that a negotiation is complete, and the server refuses the user nevertheless.
    package mutating func negotiationEnded(in space: ProtectionSpace?) { self.space = space }

    /// Removes and returns the field value for the next request. Later requests need another answer.
    package mutating func takeField() -> String? { nextField.take() }
}
