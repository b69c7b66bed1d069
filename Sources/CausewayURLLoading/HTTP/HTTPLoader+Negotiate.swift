internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// Authentication schemes for whole connections: Negotiate (RFC 4559) and NTLM (MS-NTHT).
///
/// NTLM always uses separate connections, which then belong to the credential. Kerberos with Negotiate needs one token and can use any
/// connection, including HTTP/2. If the server answers the token with another one, the negotiation starts over on a separate connection.
extension HTTPLoader {
    /// A multi-message authentication.
    struct Negotiating {
        var context: any NegotiateContext
        var credential: URLCredential
        var scheme: ConnectionScheme
        var offer: AuthenticationAttempts.Offer
    }

    /// The use of connections bound to a credential.
    struct Bound {
        var owner: BoundConnections.Owner
        var handshake: BoundHandshake
        /// `nil` before the first request.
        var lease: BoundLease?

        /// The connections to use for the next request. Before a lease is acquired, the name is empty.
        var binding: ConnectionBinding {
            ConnectionBinding(identity: lease?.name ?? "", connection: handshake.connection)
        }
    }

    /// Sends the request again with the first message.
    ///
    /// - Parameters:
    ///   - isBound: Whether to use a connection bound to the credential. NTLM always does.
    ///   - fallback: Called if there is no message, for example because the user has no Kerberos ticket.
    func negotiate(
        _ scheme: ConnectionScheme, _ credential: URLCredential, for offer: AuthenticationAttempts.Offer,
        isBound: Bool = false, otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let host = state.withLock { state in state.exchange.origin.host }
        if let obstacle = scheme.obstacle(at: "The server \(host)") {
            return fail(LoadFailure(.authenticationUnavailable, details: [LoadFailure.reasonKey: obstacle]))
        }
        guard let context = HTTPNetwork.makeContext(scheme, with: host, credential) else { return fallback() }
        let owner = BoundConnections.Owner(space: offer.space, credential: credential)
        let old = state.withLock { state -> Bound? in
            state.access.negotiating = Negotiating(
                context: context, credential: credential, scheme: scheme, offer: offer)
            let old = state.access.bound
            if var known = old, known.owner == owner {
                known.handshake.started(isOpening: scheme.needsAnswer)
                state.access.bound = known
                return nil
            }
            state.access.bound =
                isBound || scheme.needsAnswer
                ? Bound(owner: owner, handshake: BoundHandshake(isOpening: scheme.needsAnswer)) : nil
            return old
        }
        withExtendedLifetime(old) {}
        step(context, nil, scheme, offer, credential, otherwise: fallback)
    }

    /// Sends the request again with the answer to a server message. If the message needs no answer, the user is authenticated but lacks
    /// permission: the program is asked for another credential.
    func continueNegotiation(_ offer: AuthenticationAttempts.Offer) {
        let token = offer.challenge.token.flatMap { Data(base64Encoded: $0) }
        let (negotiating, isBound) = state.withLock { state -> (Negotiating?, Bool) in
            (state.access.negotiating, token != nil && state.access.bound?.handshake.tokenArrived() == true)
        }
        guard let negotiating, let token else { return deliverHeld() }
        let (scheme, credential) = (negotiating.scheme, negotiating.credential)
        let ended: @Sendable () -> Void = { [self] in negotiationEnded() }
        guard !isBound else { return step(negotiating.context, token, scheme, offer, credential, otherwise: ended) }
        NegotiateQueue.step(negotiating.context, token) { [self] answer in
            guard answer != nil else { return ended() }
            negotiate(scheme, credential, for: offer, isBound: true) { [self] in deliverHeld() }
        }
    }

    /// Handles a response that refuses the user after a complete negotiation.
    private func negotiationEnded() {
        let response = state.withLock { state -> HTTPURLResponse? in
            // The program may have ended the load meanwhile.
            guard state.machine.isDeciding else { return nil }
            state.access.credentials.negotiationEnded(in: state.access.negotiating?.offer.space)
            return state.exchange.response
        }
        if let response { challenged(response, isOver: true) }
    }

    private func step(
        _ context: any NegotiateContext, _ token: Data?, _ scheme: ConnectionScheme,
        _ offer: AuthenticationAttempts.Offer, _ credential: URLCredential,
        otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let space = makeSpace(offer)
        NegotiateQueue.step(context, token) { [self] answer in
            guard let answer else { return fallback() }
            state.withLock { state in
                state.access.credentials.answered(in: offer.space, with: scheme.value(answer))
                state.access.accepted = (credential, space)
            }
            sendAgain()
        }
    }

    // MARK: Connections of a credential

    /// Acquires a lease for a request, then sends the request.
    func lease(for owner: BoundConnections.Owner, _ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let isNew = state.withLock { state in state.access.bound?.handshake.needsNewConnection ?? true }
        network.boundConnections.acquire(for: owner, isNew: isNew) { [self] lease in
            let binding = state.withLock { state -> ConnectionBinding? in
                guard !state.machine.hasEnded else { return nil }
                state.access.bound?.lease = lease
                return state.access.bound?.binding
            }
            guard let binding else { return }
            var value = value
            value.binding = binding
            send(value, body)
        }
    }

    /// Returns the content for a request on a bound connection.
    func makeBoundBody() throws(LoadFailure) -> HTTPRequestBody {
        guard state.withLock({ state in state.access.bound?.handshake.isOpening == true }) else {
            return try makeBody()
        }
        return request.values.body == .none ? .none : .data(Data())
    }

    /// Repeats a handshake whose connection closed between two messages. Returns `false` if the failure has another reason.
    func repeatsHandshake() -> Bool {
        let (negotiating, origin) = state.withLock { state -> (Negotiating?, HTTPOrigin) in
            guard let negotiating = state.access.negotiating, state.access.bound?.handshake.exchangeFailed() == true,
                case .decide = state.machine.recoveryFound()
            else { return (nil, state.exchange.origin) }
            return (negotiating, state.exchange.origin)
        }
        guard let negotiating else { return false }
        // The next exchange adds this loader again.
        if origin.isSecure { network.challenges.remove(self, origin) }
        let failure = LoadFailure(.noResponse(nil), rejection: nil, request)
        negotiate(negotiating.scheme, negotiating.credential, for: negotiating.offer) { [self] in fail(failure) }
        return true
    }
}
