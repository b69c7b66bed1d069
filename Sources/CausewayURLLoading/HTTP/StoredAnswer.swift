internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import Foundation

/// A load that can be answered from the session's cache.
protocol CachedLoad: DrivenLoad {
    /// The load's use of the session's cache; `nil` if the load uses no cache.
    var cache: LoadCache? { get }
    /// Starts an exchange.
    func send(_ value: HTTPRequestValue, _ body: HTTPRequestBody)
    /// Ends this load. Another loader takes over and delivers the stored response.
    func replay(_ cached: CachedURLResponse)
}

extension CachedLoad {
    /// Returns the cache storage policy for a response. If the response may be stored, this method first gives the task
    /// the values that the cache needs.
    func storagePolicy(for response: HTTPURLResponse) -> URLCache.StoragePolicy {
        guard let exchange = cache?.exchange(storing: response) else { return .notAllowed }
        report(.cacheable(exchange))
        return .allowed
    }
}

/// Answers a load from the cache in one of four cases: without a request to the server, before a request that validates
/// the stored response, after the server has confirmed this response, or in place of an error.
struct StoredAnswer: Sendable {
    let load: any CachedLoad
    let cache: LoadCache

    /// Answers a request from the cache if possible. Otherwise, sends the request.
    func answer(_ value: HTTPRequestValue, _ body: HTTPRequestBody, _ use: CacheUse) {
        guard let question = cache.begin(value.fields, use) else { return load.send(value, body) }
        if let known = cache.knownEntries(question) { return perform(cache.step(question, known, value), body) }
        cache.lookUp(question, asking: load) { entries in perform(cache.step(question, entries, value), body) }
    }

    /// Delivers a response from the cache, after the server has confirmed it or to replace an error. The metrics then
    /// have two transactions: the request to the server, and the delivery from the cache.
    func deliverConfirmed() {
        guard let step = cache.confirmed else { return }
        if load.measure() { load.report(.begins(TransactionRecord(request: load.request))) }
        perform(step, .none)
    }

    private func perform(_ step: LoadCache.Step, _ body: HTTPRequestBody) {
        switch step {
        case .send(let value): load.send(value, body)
        case .deliver(let cached): deliver(cached)
        case .deliverAndValidate(let cached, let entry, let value):
            deliver(cached)
            cache.validate(entry, value, over: load.network)
        case .fail: load.fail(LoadFailure(.notInCache))
        }
    }

    private func deliver(_ cached: CachedURLResponse) {
        guard let http = cached.response as? HTTPURLResponse,
            FollowUp(status: http.statusCode, fields: http.fields, isProxyRefusal: false) == .redirect
        else { return load.replay(cached) }
        hold(http, cached.data)
    }

    /// Does not deliver a stored redirect response yet. The program first decides whether to follow the redirect, as
    /// for a redirect from the server.
    private func hold(_ response: HTTPURLResponse, _ content: Data) {
        guard load.withState({ $0.storedRedirectFound(response, content) }) else { return }
        cache.storedRedirectFound()
        HeldRedirect(load: load, response: response).propose()
    }
}
