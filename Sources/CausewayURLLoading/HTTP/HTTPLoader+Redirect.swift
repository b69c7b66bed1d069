internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Reports a redirect to the task, which asks the program.
    func redirected(_ response: HTTPURLResponse) {
        let values = request.values
        guard let text = values.url?.absoluteString, let target = URIReference(text) else { return deliverHeld() }
        let old = RedirectableRequest(
            method: values.method, target: target, fields: values.fields, hasContent: values.body != .none)
        // The task counts the redirects.
        var chain = RedirectChain(limit: .max)
        switch chain.answered(status: response.statusCode, fields: response.fields, to: old) {
        case .deliver: deliverHeld()
        case .follow(let next):
            storeRedirect(response)
            report(next, response, refusal: nil)
        case .refuse(.downgrade, var proposed?) where network.secured(proposed.target) != nil:
            // The redirect leads to a host with Strict-Transport-Security, so it is no downgrade.
            proposed.target = network.secured(proposed.target) ?? proposed.target
            report(proposed, response, refusal: nil)
        case .refuse(let refusal, let proposed):
            let failure = LoadFailure(refusal)
            guard let proposed else { return fail(failure) }
            report(proposed, response, refusal: failure)
        }
    }

    private func report(_ next: RedirectableRequest, _ response: HTTPURLResponse, refusal: LoadFailure?) {
        guard let url = URL(string: next.target.description) else { return fail(LoadFailure(.redirectTargetInvalid)) }
        var request = request
        request.change { values in
            values.url = url
            values.setMethod(next.method)
            values.fields = next.fields
            if !next.hasContent { values.body = .none }
        }
        measure()
        let redirect = Redirect(request: request, response: response, refusal: refusal) { [weak self] in
            self?.deliverHeld()
        }
        attempt.report(.redirect(redirect))
    }

    /// Reports the metrics so far, because the task may leave the loader.
    private func measure() {
        let record = state.withLock { state in
            state.record?.dates.response.end = Date()
            return state.record
        }
        if let record { attempt.report(.measured(record)) }
    }
}

extension LoadFailure {
    fileprivate init(_ refusal: RedirectRefusal) {
        // With its type, because `.downgrade` alone would also name a refusal, and the initializer would recurse.
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
