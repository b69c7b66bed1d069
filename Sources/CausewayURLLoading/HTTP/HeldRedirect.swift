internal import Foundation

/// A redirect response. It is held back while the program decides whether to follow the redirect. If the program
/// follows it, the task continues with another loader.
struct HeldRedirect: Sendable {
    let load: any CachedLoad
    let response: HTTPURLResponse

    /// Passes the redirect to the task, which asks the program whether to follow it. If the program refuses, the load
    /// delivers the redirect response itself.
    func propose() {
        switch LoadRedirect(response, to: load.request, over: load.network) {
        case .deliver: load.deliverHeld()
        case .fail(let failure): load.fail(failure)
        case .propose(let next, let refusal):
            if refusal == nil { store() }
            // Report the metrics before the redirect. If the task follows the redirect, it stops using this loader.
            load.measure()
            let redirect = Redirect(request: next, response: response, refusal: refusal) { [weak load] in
                load?.deliverHeld()
            }
            load.report(.redirect(redirect))
        }
    }

    /// Stores the redirect response in the cache if the response is complete. This is the only code that stores it when
    /// the load follows a redirect.
    private func store() {
        guard let cache = load.cache, let content = load.withState({ $0.completeHeldContent }) else { return }
        cache.store(redirect: response, content: content)
    }
}
