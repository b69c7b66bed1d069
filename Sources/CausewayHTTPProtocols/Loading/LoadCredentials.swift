package import CausewayProtocols

/// The credentials that one URL load sends to the server, and the record of credentials that the server refused.
package struct LoadCredentials: Sendable {
    /// The protection space of the credential that the current request carries; `nil` if the request carries no
    /// credential.
    package private(set) var space: ProtectionSpace?
    /// The latest user name and password that the load has sent. If the server only asks for a new nonce, the load
    /// sends them again without asking the program.
    package private(set) var password: PasswordCredential?
    private var attempts = AuthenticationAttempts()
    private var nextField: String?

    package init() {}

    /// Reports a challenge of the server.
    ///
    /// - Parameter answersTokens: Whether the client can answer a token, which is the server's message in a handshake
    ///   of several messages. Otherwise, a token ends the negotiation.
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

    /// Records that the next request carries a credential. The server accepted this credential for an earlier request.
    package mutating func sent(in space: ProtectionSpace) {
        self.space = space
        attempts.answered(space)
    }

    /// Reports that the negotiation is complete and that the server still refuses the user.
    package mutating func negotiationEnded(in space: ProtectionSpace?) { self.space = space }

    /// Removes and returns the credential's field value for the next request. Each value is used for one request only.
    package mutating func takeField() -> String? { nextField.take() }
}
