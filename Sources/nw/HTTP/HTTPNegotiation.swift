import ArgumentParser
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayURLLoading
import CausewayWire

/// Options that choose a scheme for authenticating a connection: Negotiate or NTLM.
struct NegotiationOptions: ParsableArguments {
    @Flag(help: "Answer a challenge of the URL's origin with Negotiate: with -u, or the Kerberos ticket of the user.")
    var negotiate = false

    @Flag(help: "Answer a challenge of the URL's origin with NTLM and the credential of -u.")
    var ntlm = false

    var scheme: ConnectionAuthentication.Scheme? { negotiate ? .negotiate : ntlm ? .ntlm : nil }

    /// - Parameter hasUser: Whether `-u` is given.
    func check(hasUser: Bool) throws {
        if negotiate, ntlm { throw ValidationError("--negotiate and --ntlm cannot be combined.") }
        if ntlm, !hasUser { throw ValidationError("--ntlm requires -u USER:PASSWORD.") }
    }
}

/// Authenticates a connection to the origin of the command's URL.
struct HTTPNegotiation {
    private enum Phase {
        case idle
        case running(ConnectionAuthentication)
        /// The authentication is over. The server has accepted the connection or refused the user.
        case over
    }

    /// The name under which the connection pool finds the user's authenticated connections.
    private static let identity = "user"

    let scheme: ConnectionAuthentication.Scheme
    let credential: PasswordCredential?
    private var phase = Phase.idle
    /// The only connections that the next request may use: those that are bound to the user. `nil` before the first
    /// challenge; the request may then use a shared connection.
    private(set) var binding: ConnectionBinding?
    /// Whether to send the next request without content. This request carries the first authentication message. The
    /// server answers it with another challenge, so content in it would be useless.
    private(set) var isOpening = false

    init(_ scheme: ConnectionAuthentication.Scheme, _ credential: PasswordCredential?) {
        self.scheme = scheme
        self.credential = credential
    }

    /// Returns the `Authorization` value that answers a 401 response; `nil` if the response is final.
    ///
    /// - Parameter connection: The response's connection.
    mutating func answer(
        _ head: HTTPResponseHead, from host: String, on connection: PoolConnectionID?
    ) async throws -> String? {
        let challenges = AuthenticationChallenge.parse(head.fields.values(of: "WWW-Authenticate"))
        guard let challenge = challenges.first(where: { $0.scheme == scheme.rawValue }) else { return nil }
        isOpening = false
        switch phase {
        case .over: return nil
        case .idle:
            let authentication = try begin(with: host)
            guard let value = await authentication.next(nil) else { throw lacksCredential(for: host) }
            phase = .running(authentication)
            binding = ConnectionBinding(identity: Self.identity)
            isOpening = scheme.needsAnswer
            return value
        case .running(let authentication):
            guard let token = challenge.token.flatMap({ Base64.decode($0.utf8) }), let connection,
                let value = await authentication.next(token)
            else {
                phase = .over
                return nil
            }
            binding = ConnectionBinding(identity: Self.identity, connection: connection)
            return value
        }
    }

    /// Records that this response is final: the authentication needs no further request. From now on, requests may use
    /// any connection that the pool has authenticated for the user.
    mutating func accepted() {
        guard binding != nil else { return }
        phase = .over
        binding = ConnectionBinding(identity: Self.identity)
    }

    private func begin(with host: String) throws -> ConnectionAuthentication {
        if let problem = scheme.problem {
            throw HTTPCommandFailure(
                .other, "the server demands \(scheme.name), which is not available: \(PrintableText(foreign: problem))")
        }
        func given(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
        let made = ConnectionAuthentication(
            scheme, with: host, user: given(credential?.username), password: given(credential?.password))
        guard let made else { throw lacksCredential(for: host) }
        return made
    }

    private func lacksCredential(for host: String) -> HTTPCommandFailure {
        let hint: PrintableText = scheme == .negotiate ? "get a ticket with kinit, or add -u USER:PASSWORD" : "check -u"
        return HTTPCommandFailure(.other, "no credential for \(scheme.name) with \(host): \(hint)")
    }
}
