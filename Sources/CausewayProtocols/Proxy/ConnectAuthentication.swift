internal import CausewayWire

/// The authentication of a CONNECT request by messages that depend on each other: the values of `Proxy-Authorization` come from the owner of
/// the handshake, one for each message of the proxy (RFC 4559 §4.2).
struct ConnectAuthentication: Sendable {
    /// The maximum number of requests on one connection. NTLM needs two, and Kerberos one or two.
    static let maximumRequests = 8
    /// The maximum length of a token, in bytes.
    private static let tokenLimit = 48 << 10

    /// The name of the scheme in lower case.
    let scheme: String
    /// The question that the owner has not yet seen.
    private var question: TunnelQuestion?
    /// The token of a 407 response whose content has not arrived yet.
    private var token: [UInt8]?

    /// - Parameter isBegun: Whether the first value is known.
    init(scheme: String, isBegun: Bool) {
        self.scheme = scheme
        question = isBegun ? nil : TunnelQuestion(token: nil)
    }

    /// Whether a token waits for the end of the response that carried it.
    var hasToken: Bool { token != nil }

    /// Takes the token of the proxy from its challenges. Returns `false` if there is none, because the proxy refuses.
    mutating func challenged(_ challenges: [String]) -> Bool {
        let text = AuthenticationChallenge.parse(challenges).first { $0.scheme == scheme }?.token
        guard let text, let token = Base64.decode(text.utf8), token.count <= Self.tokenLimit else { return false }
        self.token = token
        return true
    }

    /// Asks the owner for the answer to the token. The connection is ready for the next request.
    mutating func ask() { question = TunnelQuestion(token: token.take()) }

    mutating func takeQuestion() -> TunnelQuestion? { question.take() }
}
