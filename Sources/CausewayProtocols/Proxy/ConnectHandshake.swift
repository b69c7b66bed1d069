internal import CausewayTypes
internal import CausewayWire

/// A refusal by an HTTP proxy that demands a credential (RFC 9110 §15.5.8).
package struct ProxyRefusal: Equatable, Sendable {
    /// All `Proxy-Authenticate` field values.
    package var challenges: [String]
    /// Whether the client sent a credential that is wrong or that cannot be used. If only the nonce of the credential
    /// was too old, the value is `false`.
    package var hadCredential: Bool

    package init(challenges: [String], hadCredential: Bool) {
        self.challenges = challenges
        self.hadCredential = hadCredential
    }
}

/// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110 §9.3.6). Authenticates if the proxy demands it (RFC 7617, RFC
/// 7616).
///
/// The handshake can also authenticate a connection that forwards requests without a tunnel. Schemes such as NTLM
/// authenticate such a connection before its first request.
package struct ConnectHandshake: TunnelHandshake {
    /// How the connection is used.
    package enum Purpose: Sendable {
        /// A tunnel to the destination.
        case tunnel
        /// The connection carries requests with an absolute URI, without a tunnel. The handshake sends an OPTIONS
        /// request. This method is safe (RFC 9110 §9.3.7). It has no content that must be sent again after a refusal.
        ///
        /// The handshake does not send `Max-Forwards`. With this field, Squid would answer instead of the server: it
        /// would send 501 and close the connection.
        case forward
    }

    /// The maximum size of a response head in bytes.
    private static let headLimit = 32 << 10
    /// The maximum number of content bytes in a response. The handshake must read the content of a 407 response before
    /// it sends the request again.
    private static let contentLimit = 48 << 10

    /// The request that is sent to the proxy.
    private struct Request {
        var purpose: Purpose
        var authority: String

        /// The method and target (RFC 9112 §3.2).
        var line: (method: String, target: String) {
            switch purpose {
            case .tunnel: ("CONNECT", authority)
            case .forward: ("OPTIONS", "http://\(authority)")
            }
        }
    }

    private let request: Request
    private let credentials: ProxyCredentials
    private let refused: (@Sendable (ProxyRefusal) -> Void)?
    private var client: HTTP1Client
    private var attempts = 0
    /// Whether the proxy has answered a ``Purpose/forward`` request without a challenge.
    private var isAccepted = false
    /// Whether the latest request carried a credential.
    private var hasSentCredential = false
    /// The challenges answered by the latest credential.
    private var answered: [String] = []
    /// The credential for the request that will be repeated. It is set while the content of the 407 response arrives.
    private var authorization: String?
    /// The authentication in progress, if its scheme needs several messages. Otherwise `nil`.
    private var authentication: ConnectAuthentication?
    /// The challenges from the latest 407 response. Before the first response, the challenges that the caller already
    /// knew.
    private var lastChallenges: [String] = []

    /// - Parameters:
    ///   - purpose: How the connection is used.
    ///   - destination: The tunnel's destination, or the server for the first forwarded request.
    ///   - credential: The credential for the proxy, if there is one.
    ///   - nonce: The client nonce: random letters and digits (RFC 7616 §3.4).
    ///   - known: Challenges that the proxy sent on an earlier connection before it closed that connection. The first
    ///     request answers them.
    ///   - authorization: The `Proxy-Authorization` value for the first request, such as a Negotiate token (RFC 4559
    ///     §4.2). It takes precedence over the credential.
    ///   - scheme: The scheme in lower case for authentication in several messages; `nil` for none. The handshake then
    ///     requests each value with a ``TunnelQuestion``, and the caller passes the value to ``answered(_:)``. If
    ///     `authorization` is `nil`, the first value is requested before the first request is sent.
    ///   - refused: Called if the handshake fails because the proxy demands another credential.
    package init(
        _ purpose: Purpose = .tunnel, to destination: TunnelDestination, credential: TunnelCredential?, nonce: String,
        answering known: [String] = [], authorization: String? = nil, scheme: String? = nil,
        refused: (@Sendable (ProxyRefusal) -> Void)? = nil
    ) {
        request = Request(purpose: purpose, authority: Self.encoded(destination.authority))
        credentials = ProxyCredentials(credential: credential, nonce: nonce)
        self.refused = refused
        client = Self.makeClient()
        if !known.isEmpty { self.authorization = credentials.authorization(for: known, request.line)?.value }
        if let authorization { self.authorization = authorization }
        answered = known
        authentication = scheme.map { ConnectAuthentication(scheme: $0, isBegun: authorization != nil) }
        lastChallenges = known
    }

    private static func makeClient() -> HTTP1Client {
        var configuration = HTTP1Client.Configuration()
        configuration.headLimits.byteCount = headLimit
        return HTTP1Client(configuration: configuration)
    }

    /// Percent-encodes characters that are not permitted in a request target (RFC 3986 §3.2.2).
    private static func encoded(_ authority: String) -> String {
        PercentCoding.encoded(authority.utf8, where: HTTPCharacters.isTarget)
    }

    package mutating func begin() -> TunnelStep {
        authentication != nil && authorization == nil ? .wait : send()
    }

    package mutating func takeQuestion() -> TunnelQuestion? { authentication?.takeQuestion() }

    package mutating func answered(_ value: String?) -> TunnelStep {
        guard let value else {
            refused?(ProxyRefusal(challenges: lastChallenges, hadCredential: true))
            return .failed(.tunnelDenied)
        }
        authorization = value
        return repeatedRequest()
    }

    private mutating func send() -> TunnelStep {
        attempts += 1
        var fields = FieldSection()
        fields.append("Host", request.authority)
        if let authorization { fields.append("Proxy-Authorization", authorization) }
        hasSentCredential = authorization != nil
        authorization = nil
        let (method, target) = request.line
        do {
            try client.send(HTTPRequestHead(method: method, target: target, fields: fields), at: .zero)
        } catch {
            guard hasSentCredential else { return .failed(.misuse) }
            // A header field cannot carry this credential, so ask for another one.
            refused?(ProxyRefusal(challenges: lastChallenges, hadCredential: true))
            return .failed(.tunnelDenied)
        }
        return .send(client.takeOutput().bytes)
    }

    package mutating func received(_ bytes: inout ByteChain) -> TunnelStep {
        while let piece = bytes.popPiece() { client.received(piece) }
        while let event = client.nextEvent() {
            if let step = step(event) {
                if step == .open { bytes = client.takeRemainingInput() }
                return step
            }
        }
        return .wait
    }

    /// Returns the handshake's next step after an event from the HTTP client; `nil` if the event requires no step.
    private mutating func step(_ event: HTTP1Client.Event) -> TunnelStep? {
        switch event {
        case .informational: return nil
        case .upgraded: return .open
        case .responded(let response, let length):
            if response.status == 407 { return authenticate(response, length) }
            // If the credential is wrong, tinyproxy sends status 401 without a challenge, instead of 407.
            let isOfProxy = request.purpose == .tunnel || !response.fields.contains("WWW-Authenticate")
            if response.status == 401, hasSentCredential, isOfProxy {
                refused?(ProxyRefusal(challenges: answered, hadCredential: true))
                return .failed(.tunnelDenied)
            }
            // Any other response shows that the proxy has accepted the credential, even a response from the server.
            guard request.purpose == .tunnel else {
                isAccepted = true
                return nil
            }
            return Self.refusal(response.status)
        // This is the content of the proxy's response. If the proxy has accepted the credential, the content is
        // discarded. Only the caller's timeout then limits the length of the content.
        case .content: return isAccepted || client.receivedCount <= Self.contentLimit ? nil : .failed(.tunnelDenied)
        case .finished(_, let reuse):
            guard isAccepted else { return next() }
            return reuse == .refused ? .failed(.tunnelBroken) : .open
        case .ended: return .failed(.tunnelBroken)
        }
    }

    private static func refusal(_ status: Int) -> TunnelStep {
        switch status {
        case 401, 403, 451: .failed(.tunnelDenied)
        case 504: .failed(.tunnelTimedOut)
        case 500..<600: .failed(.tunnelHostUnreachable)
        default: .failed(.tunnelRefused)
        }
    }

    /// Returns the next step of the handshake, after a complete 407 response has arrived.
    private mutating func next() -> TunnelStep {
        guard authentication?.hasToken == true else { return repeatedRequest() }
        authentication?.ask()
        return .wait
    }

    /// Returns the request with the credential, to send on the connection that carried the 407 response.
    ///
    /// By the rules of HTTP, that response may end the connection, but many proxies keep it open.
    ///
    /// So a new ``HTTP1Client`` sends the request on the same connection. If the proxy does close the connection, the
    /// handshake fails.
    private mutating func repeatedRequest() -> TunnelStep {
        client = Self.makeClient()
        return send()
    }

    /// Prepares the credential that a 407 response demands. The next request carries the credential, and is sent after
    /// the response's content. As in other clients, a response without a length is assumed to have no content.
    private mutating func authenticate(_ response: HTTPResponseHead, _ length: HTTP1BodyLength) -> TunnelStep? {
        let closes = ["Connection", "Proxy-Connection"].contains { response.fields.hasElement("close", in: $0) }
        let challenges = response.fields.values(of: "Proxy-Authenticate")
        lastChallenges = challenges
        if authentication != nil { return continueAuthentication(challenges, closes, length) }
        let answer = credentials.authorization(for: challenges, request.line)
        // A second 407 response usually means that the credential is wrong. The exception is a response that only
        // rejects an old nonce.
        let isWrong = hasSentCredential && answer?.isStale != true
        guard attempts <= 2, !isWrong, !closes, let authorization = answer?.value else {
            refused?(ProxyRefusal(challenges: challenges, hadCredential: isWrong))
            return .failed(.tunnelDenied)
        }
        self.authorization = authorization
        answered = challenges
        return length == .untilEnd ? repeatedRequest() : nil
    }

    /// Continues an authentication that takes several messages.
    ///
    /// If the response contains no token, the proxy has refused the credential.
    private mutating func continueAuthentication(
        _ challenges: [String], _ closes: Bool, _ length: HTTP1BodyLength
    ) -> TunnelStep? {
        guard attempts < ConnectAuthentication.maximumRequests, !closes, authentication?.challenged(challenges) == true
        else {
            refused?(ProxyRefusal(challenges: challenges, hadCredential: true))
            return .failed(.tunnelDenied)
        }
        return length == .untilEnd ? next() : nil
    }
}

/// The credential that answers a proxy's challenges.
private struct ProxyCredentials: Sendable {
    var credential: TunnelCredential?
    /// The client nonce (RFC 7616 §3.4).
    var nonce: String

    /// Returns the `Proxy-Authorization` value for the strongest supported challenge (RFC 9110 §11.7.1), and whether
    /// the proxy only asks for a new nonce (RFC 7616 §3.3). Returns `nil` if there is no credential.
    func authorization(
        for challenges: [String], _ line: (method: String, target: String)
    ) -> (value: String, isStale: Bool)? {
        guard let credential else { return nil }
        let answerable = AuthenticationChallenge.answerable(AuthenticationChallenge.parse(challenges))
        guard let best = answerable.first else { return nil }
        guard best.scheme == "digest" else { return BasicAuthentication.authorization(credential).map { ($0, false) } }
        var session = DigestSession(best, credential: credential)
        let isStale = session?.challenge.isStale == true
        let request = DigestRequest(method: line.method, target: line.target)
        return session?.authorization(for: request, clientNonce: nonce).map { ($0, isStale) }
    }
}
