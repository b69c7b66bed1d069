internal import Foundation

/// A redirect response that is held back: the program decides whether to follow the redirect. If so, the task continues
/// with another loader.
struct HeldRedirect: Sendable {
    let load: any CachedLoad
    let response: HTTPURLResponse

    /// Reports the redirect to the task, which asks the program. If the program declines, the response is delivered.
    func propose() {
        switch LoadRedirect(response, to: load.request, over: load.network) {
        case .deliver: load.deliverHeld()
        case .fail(let failure): load.fail(failure)
        case .propose(let next, let refusal):
            if refusal == nil { store() }
            // The metrics are reported first, because the task stops using this loader if it follows the redirect.
            load.measure()
            let redirect = Redirect(request: next, response: response, refusal: refusal) { [weak load] in
                load?.deliverHeld()
            }
            load.report(.redirect(redirect))
        }
    }

    /// Stores the redirect response if it is complete. No other code stores a response whose redirect is followed.
    private func store() {
        guard let cache = load.cache, let content = load.withState({ $0.completeHeldContent }) else { return }
        cache.store(redirect: response, content: content)
    }
}
