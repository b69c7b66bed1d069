internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// A load that can be asked for credentials by its server.
protocol ChallengedLoad: Challenged, AskingLoad {
    var request: URLRequest { get }
    /// The origin of the current exchange.
    var origin: HTTPOrigin { get }
    /// A response that the load does not deliver yet, because another request may follow it. `nil` if there is no such
    /// response.
    var undecidedResponse: HTTPURLResponse? { get }
    /// The parts of the request from which a Digest response is computed, and the request's URL. `nil` if the request
    /// is not valid.
    var digestRequest: (DigestRequest, URIReference)? { get }

    func withAccess<Result: Sendable>(_ body: (inout LoadAccess) -> Result) -> Result
    /// Sends the request again after the current exchange ends.
    func sendAgain()
    /// Delivers the response that was held back. The loader calls this when it does not send the request again.
    func deliverHeld()
    func fail(_ failure: LoadFailure)
}

/// Handles a 401 response before it is delivered: asks the program for a credential, one challenge at a time. Then
/// sends the request again, or delivers the response.
struct ServerChallenge: Sendable {
    private typealias Offers = ArraySlice<AuthenticationAttempts.Offer>

    let load: any ChallengedLoad
    let response: HTTPURLResponse

    private var network: HTTPNetwork { load.network }

    /// Handles a 401 response.
    ///
    /// - Parameter isOver: Whether an authentication with several messages has ended. In that case, the server's
    ///   message in this response needs no answer.
    func answer(isOver: Bool = false) {
        let values = response.fields.values(of: "WWW-Authenticate")
        let (schemes, origin) = (network.connectionSchemes(of: values), load.origin)
        let (step, refused) = load.withAccess { access in
            access.accepted = nil
            return access.credentials.refused(
                by: origin, challenges: values, schemes: schemes, answersTokens: !isOver)
        }
        switch step {
        case .deliver: load.deliverHeld()
        case .renew(let offer): refused == nil ? load.deliverHeld() : renew(offer)
        case .offer(let offers):
            if let refused { network.withAuthorization { $0.refused(refused) } }
            self.offer(offers[...])
        }
    }

    /// Sends the request again with the same credential. Either the Digest nonce was stale, or the negotiation
    /// continues.
    private func renew(_ offer: AuthenticationAttempts.Offer) {
        guard ConnectionSchemes(scheme: offer.space.scheme) == nil else {
            return ServerNegotiation.resume(
                with: offer, for: load, whenEnded: { negotiationEnded() }, whenRefused: { load.deliverHeld() })
        }
        guard let credential = load.withAccess({ $0.credentials.password }) else { return self.offer([offer]) }
        send(credential, for: offer, store: nil)
    }

    /// Handles a refusal that follows a complete Negotiate exchange. Asks the program for another credential.
    private func negotiationEnded() {
        // The program may have ended the load during the negotiation.
        guard let response = load.undecidedResponse else { return }
        load.withAccess { access in
            access.credentials.negotiationEnded(in: access.negotiation?.negotiation.offer.space)
        }
        ServerChallenge(load: load, response: response).answer(isOver: true)
    }

    private func offer(_ offers: Offers) {
        guard let offer = offers.first else { return load.deliverHeld() }
        let space = offer.makeSpace(of: load)
        if let scheme = network.settings.transport.connectionScheme(offer.space.scheme) {
            return negotiate(scheme, offers, space)
        }
        ask(offer, in: space) { disposition, credential, proposed in
            switch disposition {
            case .useCredential:
                guard let credential else { return load.deliverHeld() }
                use(credential, for: offer, space)
            case .performDefaultHandling:
                guard let proposed, load.withAccess({ $0.isFirstUse(of: proposed) }) else { return load.deliverHeld() }
                use(proposed, for: offer, space)
            case .rejectProtectionSpace: self.offer(offers.dropFirst())
            case .cancelAuthenticationChallenge: load.fail(LoadFailure(.cancelled))
            }
        }
    }

    /// Asks for a credential for a scheme that authenticates a whole connection. If the program has none, offers the
    /// next challenge. It also does so if the credential gives no first message.
    private func negotiate(_ scheme: ConnectionScheme, _ offers: Offers, _ space: URLProtectionSpace) {
        guard let offer = offers.first else { return load.deliverHeld() }
        let next: @Sendable () -> Void = { self.offer(offers.dropFirst()) }
        let begin: @Sendable (URLCredential) -> Void = { credential in
            ServerNegotiation(scheme: scheme, credential: credential, offer: offer).begin(for: load, otherwise: next)
        }
        if offer.failureCount == 0, let known = network.negotiatedCredential(of: offer.space) { return begin(known) }
        network.noteNegotiated(nil, of: offer.space)
        ask(offer, in: space) { disposition, credential, proposed in
            switch disposition {
            case .useCredential:
                guard let credential, credential.user != nil else { return next() }
                begin(credential)
            case .performDefaultHandling:
                guard let proposed, load.withAccess({ $0.isFirstUse(of: proposed) }) else { return next() }
                begin(proposed)
            case .rejectProtectionSpace: next()
            case .cancelAuthenticationChallenge: load.fail(LoadFailure(.cancelled))
            }
        }
    }

    // MARK: The program's answer

    /// Asks the program for a credential. Only the program's first answer has an effect, whether the program calls the
    /// challenge's sender or the completion handler.
    ///
    /// - Parameter then: Receives the answer and the credential for default handling.
    private func ask(
        _ offer: AuthenticationAttempts.Offer, in space: URLProtectionSpace,
        then: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?, URLCredential?) -> Void
    ) {
        propose(for: space) { proposed in
            load.ask { take in
                let challenge = URLAuthenticationChallenge(
                    space, proposed: proposed, failureCount: offer.failureCount, response: response)
                load.ask(challenge) { take(($0, $1)) }
            } then: { (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) in
                then(disposition, credential, proposed)
            }
        }
    }

    /// Finds the credential for default handling: the credential in the URL, otherwise the stored credential.
    private func propose(for space: URLProtectionSpace, then: @escaping @Sendable (URLCredential?) -> Void) {
        if let url = load.request.url, let user = url.user(percentEncoded: false), !user.isEmpty {
            let password = url.password(percentEncoded: false) ?? ""
            return then(URLCredential(user: user, password: password, persistence: .forSession))
        }
        guard let storage = network.settings.stores.credentials, let task = load.askingTask else { return then(nil) }
        load.ask({ storage.getDefaultCredential(for: space, task: task, completionHandler: $0) }, then: then)
    }

    private func use(
        _ credential: URLCredential, for offer: AuthenticationAttempts.Offer, _ space: URLProtectionSpace
    ) {
        guard let user = credential.user else { return load.deliverHeld() }
        let password = PasswordCredential(username: user, password: credential.password ?? "")
        send(password, for: offer, store: (credential, space))
    }

    /// Sends the request again with the field `Authorization` that answers a challenge.
    private func send(
        _ credential: PasswordCredential, for offer: AuthenticationAttempts.Offer,
        store: (URLCredential, URLProtectionSpace)?
    ) {
        guard let (request, target) = load.digestRequest else { return load.deliverHeld() }
        let value = network.withAuthorization { cache in
            cache.answer(
                offer.challenge, in: offer.space.authority, with: credential, request: request, target: target,
                clientNonce: DigestRequest.clientNonce())
        }
        guard let value else { return load.deliverHeld() }
        let bound = load.withAccess { access in
            access.credentials.answered(in: offer.space, with: value, password: credential)
            access.accepted = store
            return access.bound.take()
        }
        withExtendedLifetime(bound) {}
        load.sendAgain()
    }
}

extension AuthenticationAttempts.Offer {
    /// Returns the protection space that the program receives together with a challenge. Its realm is the realm in the
    /// challenge. If the challenge has none, the realm is the host. Negotiate and NTLM have no realm at all.
    func makeSpace(of load: any ChallengedLoad) -> URLProtectionSpace {
        let origin = load.origin
        let hasRealm = ConnectionSchemes(scheme: space.scheme) == nil
        return URLProtectionSpace(
            host: origin.host, port: Int(origin.port),
            protocol: origin.isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP,
            realm: hasRealm ? challenge["realm"] ?? origin.host : nil,
            authenticationMethod: AuthenticationMethod.name(of: space.scheme))
    }
}

extension DigestRequest {
    /// Returns random digits for Digest authentication (RFC 7616 §3.4).
    static func clientNonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
