internal import CausewayWire

/// Proxy authentication in several dependent messages, such as Negotiate or NTLM. For each message from the proxy, the
/// handshake's owner provides a `Proxy-Authorization` value (RFC 4559 §4.2).
struct ConnectAuthentication: Sendable {
    /// The maximum number of requests on one connection. NTLM needs two, and Kerberos one or two.
    static let maximumRequests = 8
    /// The maximum token length in bytes.
    private static let tokenLimit = 48 << 10

    /// The scheme name in lower case.
    let scheme: String
    /// The request for the next authentication message that the caller has not taken yet.
    private var question: TunnelQuestion?
    /// The token from a 407 response whose content has not arrived yet.
    private var token: [UInt8]?

    /// Creates the authentication for one proxy connection.
    ///
    /// - Parameter isBegun: Whether the client already has the first `Proxy-Authorization` value.
    init(scheme: String, isBegun: Bool) {
        self.scheme = scheme
        question = isBegun ? nil : TunnelQuestion(token: nil)
    }

    /// Whether a token has arrived, but not yet the whole response that contains it.
    var hasToken: Bool { token != nil }

    /// Stores the token from the proxy's challenges. Returns `false` if they contain no valid token, which means that
    /// the proxy refuses the credential.
    mutating func challenged(_ challenges: [String]) -> Bool {
        let text = AuthenticationChallenge.parse(challenges).first { $0.scheme == scheme }?.token
        guard let text, let token = Base64.decode(text.utf8), token.count <= Self.tokenLimit else { return false }
        self.token = token
        return true
    }

    /// Makes the caller supply the message that answers the proxy's token. Call this method when the connection is
    /// ready for the next request.
    mutating func ask() { question = TunnelQuestion(token: token.take()) }

    mutating func takeQuestion() -> TunnelQuestion? { question.take() }
}
