internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// How the current request uses the cache.
    struct Caching {
        /// The cache lookup; `nil` if the response is neither looked up nor stored.
        var question: CacheQuestion?
        /// The stored response that the request validates.
        var validated: CacheEntry?
        /// A stored response without a validator, which is delivered if the request fails.
        var fallback: CacheEntry?
        /// Delivers a stored response.
        var replay: DataLoader?
        /// When the request was sent, in seconds since 1970.
        var requestTime = 0
        var responseTime = 0
        /// Whether the next request skips the cache lookup.
        var isBypassed = false
        /// Whether the server has confirmed the stored response.
        var isConfirmed = false
    }

    /// Answers the request from the cache, or sends it.
    func sendUnlessStored(_ value: HTTPRequestValue, _ body: HTTPRequestBody) {
        let use = CacheUse(request.values.cachePolicy)
        let method = request.values.method
        guard let cache, method == "GET" || method == "HEAD", !value.isUpgrade else {
            return use.isLocal ? fail(LoadFailure(.notInCache)) : send(value, body)
        }
        let question = CacheQuestion(
            method: method, fields: value.fields, use: use, now: CacheExchange.now, key: cacheKey)
        let isBypassed = state.withLock { state in
            state.caching.question = question
            state.caching.requestTime = question.now
            (state.caching.validated, state.caching.fallback, state.caching.isConfirmed) = (nil, nil, false)
            return state.caching.isBypassed
        }
        guard !use.isNone, !isBypassed else { return send(value, body) }
        if let known = knownEntries(question, in: cache) { return apply(known, question, value, body) }
        lookUp(question, in: cache) { [self] entries in apply(entries, question, value, body) }
    }

    /// Returns the matching entries if that needs neither a file nor the program's code.
    private func knownEntries(_ question: CacheQuestion, in cache: URLCache) -> [CacheEntry]? {
        guard cache.isPlain else { return nil }
        guard let key = question.key else { return [] }
        let known = cache.memoryEntries(for: key)
        let isFound = !known.isEmpty && CacheEntry.selected(from: known, for: question.fields) != nil
        return isFound || cache.disk.isKnownToLack(key) ? known : nil
    }

    /// Looks up entries in files, or in a program's subclass. The closure is called on any queue.
    private func lookUp(
        _ question: CacheQuestion, in cache: URLCache, then: @escaping @Sendable ([CacheEntry]) -> Void
    ) {
        guard cache.isPlain else { return lookUpInSubclass(question, cache, then: then) }
        guard let key = question.key else { return then([]) }
        let work = attempt.task.session.core.work
        cache.readFiles(of: key) { entries in work.async { then(entries) } }
    }

    /// Asks a program's subclass, whose result has no metadata except its header fields.
    private func lookUpInSubclass(
        _ question: CacheQuestion, _ cache: URLCache, then: @escaping @Sendable ([CacheEntry]) -> Void
    ) {
        guard let task = attempt.task.task as? URLSessionDataTask else { return then([]) }
        let opened = openQuestion()
        cache.getCachedResponse(for: task) { [self] cached in
            guard takesAnswer(to: opened) else { return }
            guard let cached else { return then([]) }
            let http = cached.response as? HTTPURLResponse
            let date = http?.fields.onlyValue(of: "Date").flatMap { HTTPDate.seconds(parsing: $0, now: question.now) }
            let time = min(date ?? question.now, question.now)
            let exchange = CacheExchange(fields: question.fields, requestTime: time, responseTime: time)
            then(CacheEntry(cached, exchange: exchange, at: Date()).map { [$0] } ?? [])
        }
    }

    /// The key for the request's stored responses. HEAD is answered from the response to GET.
    var cacheKey: MemoryCache.Key? {
        target?.cacheKey ?? request.values.url.map { MemoryCache.Key(method: "GET", url: $0.absoluteString) }
    }

    private func apply(
        _ entries: [CacheEntry], _ question: CacheQuestion, _ value: HTTPRequestValue, _ body: HTTPRequestBody
    ) {
        switch question.decide(entries) {
        case (.reuse, let entry?): deliver(entry, question)
        case (.reuseAndValidate, let entry?):
            deliver(entry, question)
            refresh(entry, value)
        case (.validate, let entry?):
            var value = value
            if let head = entry.head {
                if let target {
                    value.fields = target.fields(value.fields, addingConditionsOf: head)
                } else {
                    head.addConditions(to: &value.fields)
                }
            }
            state.withLock { state in state.caching.validated = entry }
            send(value, body)
        case (.refuse, _):
            // If the program's cache policy forbids the network, the load fails; if the field `only-if-cached` does, it gets a 504 response
            // (RFC 9111 §5.2.1.7).
            question.use.isLocal ? fail(LoadFailure(.notInCache)) : deliverTimeout()
        case (.forward, let entry?):
            if let head = entry.head, CachePolicy.mayReplaceError(question.fields, head) {
                state.withLock { state in state.caching.fallback = entry }
            }
            send(value, body)
        case (.forward, nil), (.reuse, nil), (.reuseAndValidate, nil), (.validate, nil): send(value, body)
        }
    }

    // MARK: Delivery

    /// Delivers a stored response.
    ///
    /// - Parameter isValidated: Whether the server has just confirmed the response. Otherwise it gets the field `Age` (RFC 9111 §4).
    func deliver(_ entry: CacheEntry, _ question: CacheQuestion, isValidated: Bool = false) {
        guard let cached = question.answer(from: entry) else { return fail(LoadFailure(.notInCache)) }
        guard let http = cached.response as? HTTPURLResponse else { return deliver(cached) }
        let age = isValidated ? nil : entry.head?.age(at: CacheExchange.now)
        deliver(
            CachedURLResponse(
                response: http.fromCache(age: age), data: cached.data, userInfo: cached.userInfo,
                storagePolicy: cached.storagePolicy))
    }

    private func deliver(_ cached: CachedURLResponse) {
        if let http = cached.response as? HTTPURLResponse, isRedirect(http) { return hold(http, cached.data) }
        let replay = DataLoader(cached, for: attempt)
        let end = state.withLock { state -> Exchange.End? in
            guard let end = state.end(by: { $0.storedResponseFound() }) else { return nil }
            state.caching.replay = replay
            // A stored response has no connection, and this loader reports nothing more.
            state.handOver = .over
            return end
        }
        guard let end else { return }
        release(end)
        replay.start()
    }

    private func isRedirect(_ response: HTTPURLResponse) -> Bool {
        FollowUp(status: response.statusCode, fields: response.fields, isProxyRefusal: false) == .redirect
    }

    /// Holds a stored redirect as if it had arrived, so that the program decides about it.
    private func hold(_ response: HTTPURLResponse, _ content: Data) {
        let isWanted = state.withLock { state in
            guard case .decide = state.machine.storedRedirectFound() else { return false }
            state.exchange.response = response
            state.held = content.isEmpty ? [] : [content]
            state.record?.fetchType = .localCache
            state.record?.response = response
            state.caching.question = nil
            return true
        }
        if isWanted { redirected(response) }
    }

    /// Delivers a 504 response, because the cache must not use the network (RFC 9110 §15.6.5, RFC 9111 §5.2.1.7).
    private func deliverTimeout() {
        let response = HTTPURLResponse(
            url: request.url, statusCode: 504, version: "HTTP/1.1", fields: FieldSection(), isDecoded: false)
        deliver(CachedURLResponse(response: response, data: Data(), userInfo: nil, storagePolicy: .notAllowed))
    }

    // MARK: Storing

    /// Records what is needed to store the response, if that is allowed. Returns the storage policy for the task.
    func storagePolicy(for response: HTTPURLResponse) -> URLCache.StoragePolicy {
        guard let exchange = exchangeIfStorable(response) else { return .notAllowed }
        attempt.report(.cacheable(exchange))
        return .allowed
    }

    func exchangeIfStorable(_ response: HTTPURLResponse) -> CacheExchange? {
        guard let cache else { return nil }
        let (known, requestTime, responseTime) = state.withLock { state in
            (state.caching.question, state.caching.requestTime, state.caching.responseTime)
        }
        guard let question = known, response.statusCode != 401, response.statusCode != 407,
            CachePolicy.isStorable(
                method: question.method, request: question.fields, status: response.statusCode,
                fields: response.fields),
            response.expectedContentLength <= Int64(cache.maximumContentSize)
        else { return nil }
        return CacheExchange(
            fields: question.fields, requestTime: requestTime, responseTime: responseTime, key: question.key)
    }

    /// Stores a redirect that is followed: its content is complete, and nothing else stores it.
    func storeRedirect(_ response: HTTPURLResponse) {
        guard let exchange = exchangeIfStorable(response), let cache, cache.isPlain, !response.isContentDecoded else {
            return
        }
        let (content, isOver) = state.withLock { state in (state.held, state.machine.isHeldResponseOver) }
        guard isOver else { return }
        let cached = CachedURLResponse(response: response, data: content.reduce(into: Data()) { $0.append($1) })
        cache.store(cached, for: request, exchange)
    }
}
