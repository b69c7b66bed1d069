import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire

/// Answers the server's challenges, and explains failures caused by proxies.
extension HTTPConversation {
    /// Whether an origin is the origin of the URL on the command line. Only this origin gets credentials.
    func isFirst(_ origin: HTTPOrigin) -> Bool { HTTPOrigin(start.request.target) == origin }

    /// Returns the `Authorization` value for a request to an origin that has already demanded a credential.
    mutating func known(_ request: RedirectableRequest, at origin: HTTPOrigin) -> String? {
        guard !authorizations.isEmpty else { return nil }
        let digest = DigestRequest(method: request.method, target: request.target.originForm, content: nil)
        let known = authorizations.authorization(
            for: digest, path: request.target.path, at: .origin(origin), clientNonce: Self.nonce())
        if let known { attempts.answered(known.space) }
        return known?.value
    }

    /// Returns the `Authorization` value that answers a 401 response; `nil` to deliver the response.
    mutating func answer(
        _ head: HTTPResponseHead, _ request: RedirectableRequest, _ content: RequestContent, at origin: HTTPOrigin
    ) async throws -> String? {
        guard isFirst(origin) else { return nil }
        let message = try await negotiation?.answer(head, from: origin.host, on: connection)
        if let message { return message }
        guard let credential = start.credential else { return nil }
        let offer: AuthenticationAttempts.Offer?
        switch attempts.refused(by: .origin(origin), challenges: head.fields.values(of: "WWW-Authenticate")) {
        case .deliver: return nil
        case .renew(let again): offer = again
        case .offer(let offers):
            offer = offers.first { $0.failureCount == 0 && !(start.sendsCredentialFirst && $0.space.scheme == "basic") }
        }
        guard let offer else { return nil }
        let digest = DigestRequest(method: request.method, target: request.target.originForm, content: content.bytes)
        let value = authorizations.answer(
            offer.challenge, in: .origin(origin), with: credential, request: digest, target: request.target,
            clientNonce: Self.nonce())
        if value != nil { attempts.answered(offer.space) }
        return value
    }

    private static func nonce() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
    }

    // MARK: Proxies

    /// Returns the refusal of a forwarding proxy. Such a proxy has rejected the credential, or demands one. `nil` if
    /// the response is not a proxy's refusal.
    func refusal(of head: HTTPResponseHead, at origin: HTTPOrigin, since start: Duration) -> RefusingProxy? {
        guard head.status == 407 || head.status == 401, records.last?.isForwarded == true else { return nil }
        return engines.log.proxies.refused(HTTPEngine.endpoint(of: origin), since: start).map {
            RefusingProxy($0.0, $0.1)
        }
    }

    /// Returns a request's failure. Names the proxy that caused it, if any.
    func explain(
        _ failure: HTTPFailure, to origin: HTTPOrigin, _ connection: NWConnection?
    ) -> HTTPCommandFailure {
        guard case .cannotConnect(let error) = failure else {
            return HTTPCommandFailure(failure, to: origin, reason: nil)
        }
        let log = engines.log
        if case .tls = error, let text = log.verdict.text {
            return HTTPCommandFailure(failure, to: origin, reason: text)
        }
        if case .posix(.EACCES) = error, let endpoint = connection?.endpoint,
            let (proxy, refusal) = log.proxies.refused(endpoint, since: .zero)
        {
            return HTTPCommandFailure(RefusingProxy(proxy, refusal))
        }
        let known = HTTPCommandFailure(failure, to: origin, reason: nil)
        guard let connection, connection.driver.route?.proxy != nil || connection.proxyFailureReason != nil else {
            return known
        }
        return HTTPCommandFailure(known.code, connection.failureText(error))
    }
}
