internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// The authentication scheme Negotiate (RFC 4559).
extension HTTPLoader {
    /// The use of Negotiate by a load.
    struct Negotiating {
        /// The context of the last request; `nil` before the first token.
        var context: (any NegotiateContext)?
        /// The credential of the context.
        var credential: URLCredential?
    }

    /// Sends the request again with the first token of a negotiation.
    ///
    /// - Parameter fallback: Called if there is no token, for example because the user has no Kerberos ticket.
    func negotiate(
        _ credential: URLCredential, for offer: AuthenticationAttempts.Offer, _ space: URLProtectionSpace,
        otherwise fallback: @escaping @Sendable () -> Void
    ) {
        let host = state.withLock { state in state.exchange.origin.host }
        guard let context = network.makeNegotiation(with: host, credential) else { return fallback() }
        state.withLock { state in state.access.negotiating = Negotiating(context: context, credential: credential) }
        step(context, nil, offer, (credential, space), otherwise: fallback)
    }

    /// Sends the request again with the answer to a token of the server. Without one, the server's response is delivered.
    func continueNegotiation(_ offer: AuthenticationAttempts.Offer) {
        let negotiating = state.withLock { state in state.access.negotiating }
        guard let context = negotiating?.context, let credential = negotiating?.credential,
            let token = offer.challenge.token.flatMap({ Data(base64Encoded: $0) })
        else { return deliverHeld() }
        let space = makeSpace(offer.space)
        step(context, token, offer, (credential, space)) { [self] in deliverHeld() }
    }

    private func step(
        _ context: any NegotiateContext, _ token: Data?, _ offer: AuthenticationAttempts.Offer,
        _ accepted: (URLCredential, URLProtectionSpace), otherwise fallback: @escaping @Sendable () -> Void
    ) {
        NegotiateQueue.step(context, token) { [self] answer in
            guard let answer else { return fallback() }
            state.withLock { state in
                state.access.authorization = "Negotiate " + answer.base64EncodedString()
                state.access.space = offer.space
                state.access.accepted = accepted
                state.access.attempts.answered(offer.space)
            }
            sendAgain()
        }
    }
}
