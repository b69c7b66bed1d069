internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// An authentication scheme for whole connections: Negotiate (RFC 4559) or NTLM (MS-NTHT).
///
/// NTLM always uses separate connections. Each of them is used with only one credential. Negotiate with Kerberos
/// usually needs only one token from the client. A request on any connection can carry this token, also over HTTP/2. If
/// the server answers with a token, the authentication needs further messages on one connection. The negotiation then
/// starts over on a separate connection.
struct ServerNegotiation: Sendable {
    let scheme: ConnectionScheme
    let credential: URLCredential
    let offer: AuthenticationAttempts.Offer

    var owner: BoundConnections.Owner { BoundConnections.Owner(space: offer.space, credential: credential) }

    /// Begins the authentication: sends the request again with the first message of the client.
    ///
    /// - Parameters:
    ///   - isBound: Whether the request must use a connection that is bound to the credential. This is always so for
    ///     NTLM.
    ///   - fallback: Called if there is no first message, for example because the user has no Kerberos ticket.
    func begin(
        for load: any ChallengedLoad, isBound: Bool = false, otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let host = load.origin.host
        if let obstacle = scheme.obstacle(at: "The server \(host)") {
            return load.fail(
                LoadFailure(.authenticationUnavailable, details: [LoadFailure.reasonKey: obstacle]))
        }
        guard let context = HTTPNetwork.makeContext(scheme, with: host, credential) else { return fallback() }
        let old = load.withAccess { access in
            access.began(
                LoadAccess.Negotiation(context: context, negotiation: self), isBound: isBound || scheme.needsAnswer)
        }
        withExtendedLifetime(old) {}
        step(context, nil, for: load, otherwise: fallback)
    }

    /// Continues the authentication after a message from the server.
    ///
    /// Sends the request again with the answer to this message. If the message needs no answer, the user is
    /// authenticated but lacks permission.
    ///
    /// - Parameters:
    ///   - renewed: The challenge that contains the server's message.
    ///   - ended: Called if the message needs no answer.
    ///   - refused: Called if the challenge contains no message, or if the negotiation cannot start over on a separate
    ///     connection.
    static func resume(
        with renewed: AuthenticationAttempts.Offer, for load: any ChallengedLoad,
        whenEnded ended: @escaping @Sendable () -> Void, whenRefused refused: @escaping @Sendable () -> Void
    ) {
        let token = renewed.challenge.token.flatMap { Data(base64Encoded: $0) }
        let (known, isBound) = load.withAccess { access in
            (access.negotiation, token != nil && access.bound?.handshake.tokenArrived() == true)
        }
        guard let known, let token else { return refused() }
        let next = ServerNegotiation(
            scheme: known.negotiation.scheme, credential: known.negotiation.credential, offer: renewed)
        guard !isBound else { return next.step(known.context, token, for: load, otherwise: ended) }
        NegotiateQueue.step(known.context, token) { answer in
            answer == nil ? ended() : next.begin(for: load, isBound: true, otherwise: refused)
        }
    }

    private func step(
        _ context: any NegotiateContext, _ token: Data?, for load: any ChallengedLoad,
        otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let space = offer.makeSpace(of: load)
        NegotiateQueue.step(context, token) { answer in
            guard let answer else { return fallback() }
            load.withAccess { access in
                access.credentials.answered(in: offer.space, with: scheme.value(answer))
                access.accepted = (credential, space)
            }
            load.sendAgain()
        }
    }
}
