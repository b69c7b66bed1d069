internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// How to handle a redirect response. The load decides this before it delivers the response (RFC 9110 §15.4).
enum LoadRedirect {
    /// Deliver the redirect response to the program.
    case deliver
    /// Propose the next request to the task, which asks the program about it.
    ///
    /// - Parameter refusal: The task's failure if no delegate decides to follow the redirect; `nil` if the redirect is
    ///   followed by default.
    case propose(URLRequest, refusal: LoadFailure?)
    case fail(LoadFailure)

    init(_ response: HTTPURLResponse, to request: URLRequest, over network: HTTPNetwork) {
        let values = request.values
        guard let text = values.url?.absoluteString, let target = URIReference(text) else {
            self = .deliver
            return
        }
        let old = RedirectableRequest(
            method: values.method, target: target, fields: values.fields, hasContent: values.body != .none)
        // This redirect chain needs no limit, because the task counts the redirects.
        var chain = RedirectChain(limit: .max)
        switch chain.answered(status: response.statusCode, fields: response.fields, to: old) {
        case .deliver: self = .deliver
        case .follow(let next): self.init(next, after: request, refusal: nil)
        case .refuse(.downgrade, var proposed?) where network.secured(proposed.target) != nil:
            // The new host requires secure connections (Strict-Transport-Security), so the next request uses a secure
            // scheme. Therefore this redirect is no downgrade to plain HTTP.
            proposed.target = network.secured(proposed.target) ?? proposed.target
            self.init(proposed, after: request, refusal: nil)
        case .refuse(let refusal, let proposed?):
            self.init(proposed, after: request, refusal: LoadFailure(refusal))
        case .refuse(let refusal, nil): self = .fail(LoadFailure(refusal))
        }
    }

    private init(_ next: RedirectableRequest, after request: URLRequest, refusal: LoadFailure?) {
        guard let url = URL(string: next.target.description) else {
            self = .fail(LoadFailure(.redirectTargetInvalid))
            return
        }
        var request = request
        request.change { values in
            values.url = url
            values.setMethod(next.method)
            values.fields = next.fields
            if !next.hasContent { values.body = .none }
        }
        self = .propose(request, refusal: refusal)
    }
}

extension LoadFailure {
    fileprivate init(_ refusal: RedirectRefusal) {
        // State the type of `cause`, because `RedirectRefusal` also has a case `.downgrade`. Without the stated type,
        // the compiler would choose that case, and this initializer would call itself.
        let cause: Cause =
            switch refusal {
            case .tooMany: .tooManyRedirects
            case .downgrade: .downgrade
            case .invalidLocation: .redirectTargetInvalid
            case .unsupportedScheme: .unsupportedURL
            }
        self.init(cause)
    }
}
