internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Updates the cache with a response head.
    func judge(_ head: HTTPResponseHead) -> LoadMachine.Verdict {
        let method = request.values.method
        guard let cache, method == "GET" || method == "HEAD" else {
            invalidate(head)
            return .deliver
        }
        let now = CacheExchange.now
        // Copying all values would cost more than the usual case needs.
        let (question, entry, fallback, requestTime) = state.withLock { state in
            state.caching.responseTime = now
            return (
                state.caching.question, state.caching.validated, state.caching.fallback, state.caching.requestTime
            )
        }
        guard let question, entry != nil || fallback != nil || question.method == "HEAD" else { return .deliver }
        let judgement = CachePolicy.judge(
            method: question.method, request: question.fields, status: head.status, fields: head.fields,
            validated: entry?.head, fallback: fallback?.head, at: now)
        switch judgement {
        case .deliver: return .deliver
        case .deliverAndCompare:
            compareHead(head, question, cache, requestTime, now)
            return .deliver
        case .deliverStale: return .useStored
        case .confirm:
            if let entry { confirm(entry, head, cache, requestTime, now) }
            return .useStored
        case .sendAgain:
            if let key = cacheKey { cache.remove(key) }
            state.withLock { state in state.caching.isBypassed = true }
            return .sendAgain
        }
    }

    /// Updates the stored response that a 304 response confirms.
    private func confirm(
        _ entry: CacheEntry, _ head: HTTPResponseHead, _ cache: URLCache, _ requestTime: Int, _ now: Int
    ) {
        let fresh = entry.freshened(with: head.fields, requestTime: requestTime, responseTime: now, at: Date())
        state.withLock { state in (state.caching.validated, state.caching.isConfirmed) = (fresh, true) }
        if !CacheControl(head.fields).flags.contains(.noStore) { store(fresh, in: cache) }
    }

    private func store(_ entry: CacheEntry, in cache: URLCache) {
        guard !cache.isPlain, let task = attempt.task.task as? URLSessionDataTask else {
            if let key = cacheKey { cache.store(entry, for: key) }
            return
        }
        cache.storeCachedResponse(entry.response, for: task)
    }

    /// Compares a HEAD response with the stored GET response (RFC 9111 §4.3.5).
    private func compareHead(
        _ head: HTTPResponseHead, _ question: CacheQuestion, _ cache: URLCache, _ requestTime: Int, _ now: Int
    ) {
        guard cache.isPlain, let key = cacheKey, !cache.isKnownToLack(key) else { return }
        let check: @Sendable ([CacheEntry]) -> Void = { entries in
            guard let entry = CacheEntry.selected(from: entries, for: question.fields), let stored = entry.head else {
                return
            }
            guard stored.matches(headOf: head.fields) else { return cache.remove(key) }
            let update = entry.freshened(
                with: head.fields, requestTime: requestTime, responseTime: now, at: Date())
            cache.store(update, for: key)
        }
        let known = cache.memoryEntries(for: key)
        if known.isEmpty { cache.readFiles(of: key, then: check) } else { check(known) }
    }

    /// Invalidates stored responses after an unsafe method (RFC 9111 §4.4).
    private func invalidate(_ head: HTTPResponseHead) {
        let method = request.values.method
        guard method != "GET", method != "HEAD", !isWebSocket, let cache = network.settings.stores.cache,
            let uri = request.values.url?.absoluteString
        else { return }
        let invalid = CachePolicy.invalidated(method: method, uri: uri, status: head.status, fields: head.fields)
        for uri in invalid {
            guard cache.isPlain else {
                if let url = URL(string: uri) { cache.removeCachedResponse(for: URLRequest(url: url)) }
                continue
            }
            cache.remove(MemoryCache.Key(method: "GET", url: uri))
        }
    }

    // MARK: The end of the exchange

    /// Delivers the stored response after the exchange has confirmed it. A revalidated response has two transactions.
    func deliverConfirmed() {
        let (caching, record) = state.withLock { state -> (Caching, TransactionRecord?) in
            state.record?.dates.response.end = Date()
            return (state.caching, state.record)
        }
        guard let entry = caching.validated ?? caching.fallback, let question = caching.question else { return }
        if let record {
            attempt.report(.measured(record))
            attempt.report(.begins(TransactionRecord(request: request)))
        }
        deliver(entry, question, isValidated: caching.isConfirmed)
    }

    /// Delivers the stored response if the server could not be reached and both sides permit it (RFC 5861 §4). Returns whether it does.
    func deliversStale() -> Bool {
        let caching = state.withLock { state in state.caching }
        guard let stored = (caching.validated ?? caching.fallback)?.head, let question = caching.question,
            CachePolicy.permitsStaleAfterError(question.fields, stored, at: CacheExchange.now)
        else { return false }
        deliverConfirmed()
        return true
    }

    // MARK: Validation beside the use

    /// Validates a stale response after its use, once for all tasks (RFC 5861 §3).
    func refresh(_ entry: CacheEntry, _ value: HTTPRequestValue) {
        guard let cache, cache.isPlain, let key = cacheKey,
            let engine = network.engine(for: ConnectionNeeds(request.values), isSecure: value.origin.isSecure)?.engine,
            cache.validations.withLock({ $0.insert(key).inserted })
        else { return }
        CacheRefresh(entry, key, cache, request).start(value, engine)
    }
}
