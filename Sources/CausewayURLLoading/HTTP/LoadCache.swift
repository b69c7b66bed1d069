internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// A load's use of the session's cache (RFC 9111): the lookup, the stored responses, and the server's verdict on them.
final class LoadCache: Sendable {
    /// How the current request uses the cache.
    private struct State {
        /// The cache lookup of the current request. `nil` if this request neither reads nor writes the cache.
        var question: CacheQuestion?
        /// The stored response whose validity the current request checks.
        var validated: CacheEntry?
        /// A stored response without a validator, which is delivered if the request fails.
        var fallback: CacheEntry?
        /// When the request was sent, in seconds since 1970.
        var requestTime = 0
        var responseTime = 0
        /// Whether the next request skips the cache lookup.
        var isBypassed = false
        /// Whether the server has confirmed that the stored response is still valid.
        var isConfirmed = false
    }

    /// The next step of a load after a cache lookup.
    enum Step {
        case send(HTTPRequestValue)
        case deliver(CachedURLResponse)
        /// Deliver the stored response. At the same time, ask the server whether it is still valid.
        case deliverAndValidate(CachedURLResponse, CacheEntry, HTTPRequestValue)
        /// Fail, because the cache has no stored response for the request.
        case fail
    }

    private let attempt: LoadAttempt
    private let cache: URLCache
    private let target: RequestTarget?
    private let state = LockedValue(State())

    /// Creates the cache access of a load. Returns `nil` if the cache cannot answer requests with this method.
    init?(_ cache: URLCache, for attempt: LoadAttempt, _ target: RequestTarget?) {
        let method = attempt.request.values.method
        guard method == "GET" || method == "HEAD" else { return nil }
        self.cache = cache
        self.attempt = attempt
        self.target = target
    }

    /// The key for the request's stored responses. HEAD is answered from the response to GET.
    private var key: MemoryCache.Key? {
        target?.cacheKey ?? attempt.request.values.url.map { MemoryCache.Key(method: "GET", url: $0.absoluteString) }
    }

    // MARK: Lookup

    /// Begins the use of the cache for the next request. Returns the lookup. Returns `nil` if the request must be sent
    /// without a lookup.
    func begin(_ fields: FieldSection, _ use: CacheUse) -> CacheQuestion? {
        let question = CacheQuestion(
            method: attempt.request.values.method, fields: fields, use: use, now: CacheExchange.now, key: key)
        let isBypassed = state.withLock { state in
            state.question = question
            state.requestTime = question.now
            (state.validated, state.fallback, state.isConfirmed) = (nil, nil, false)
            return state.isBypassed
        }
        return use.isNone || isBypassed ? nil : question
    }

    /// Returns the cache entries that match the request. Returns `nil` if it would have to read a file or call the
    /// program's code.
    func knownEntries(_ question: CacheQuestion) -> [CacheEntry]? {
        guard cache.isPlain else { return nil }
        guard let key = question.key else { return [] }
        let known = cache.memoryEntries(for: key)
        let isFound = !known.isEmpty && CacheEntry.selected(from: known, for: question.fields) != nil
        return isFound || cache.disk.isKnownToLack(key) ? known : nil
    }

    /// Looks up entries in files, or asks the program's ``URLCache`` subclass. Calls `then` on any thread.
    func lookUp(
        _ question: CacheQuestion, asking load: any AskingLoad, then: @escaping @Sendable ([CacheEntry]) -> Void
    ) {
        guard cache.isPlain else { return lookUpInSubclass(question, load, then: then) }
        guard let key = question.key else { return then([]) }
        let work = attempt.task.session.core.work
        cache.readFiles(of: key) { entries in work.async { then(entries) } }
    }

    /// Asks the program's ``URLCache`` subclass for a stored response. The result has no metadata except the response's
    /// header fields.
    private func lookUpInSubclass(
        _ question: CacheQuestion, _ load: any AskingLoad, then: @escaping @Sendable ([CacheEntry]) -> Void
    ) {
        guard let task = attempt.task.task as? URLSessionDataTask else { return then([]) }
        load.ask({ cache.getCachedResponse(for: task, completionHandler: $0) }) { (cached: CachedURLResponse?) in
            guard let cached else { return then([]) }
            let http = cached.response as? HTTPURLResponse
            let date = http?.fields.onlyValue(of: "Date").flatMap { HTTPDate.seconds(parsing: $0, now: question.now) }
            let time = min(date ?? question.now, question.now)
            let exchange = CacheExchange(fields: question.fields, requestTime: time, responseTime: time)
            then(CacheEntry(cached, exchange: exchange, at: Date()).map { [$0] } ?? [])
        }
    }

    /// Determines the load's next step from the cache entries that a lookup found.
    func step(_ question: CacheQuestion, _ entries: [CacheEntry], _ value: HTTPRequestValue) -> Step {
        switch question.decide(entries) {
        case (.reuse, let entry?): return delivery(of: entry, question).map { .deliver($0) } ?? .fail
        case (.reuseAndValidate, let entry?):
            return delivery(of: entry, question).map { .deliverAndValidate($0, entry, value) } ?? .fail
        case (.validate, let entry?):
            state.withLock { state in state.validated = entry }
            return .send(addingConditions(of: entry, to: value))
        case (.refuse, _):
            // The request must not use the network, and there is no usable stored response. If the program's cache
            // policy requires this, the load fails. If the request's `only-if-cached` directive requires this, deliver
            // a 504 response (RFC 9111 §5.2.1.7).
            return question.use.isLocal ? .fail : .deliver(timeout)
        case (.forward, let entry?):
            if let head = entry.head, CachePolicy.mayReplaceError(question.fields, head) {
                state.withLock { state in state.fallback = entry }
            }
            return .send(value)
        case (.forward, nil), (.reuse, nil), (.reuseAndValidate, nil), (.validate, nil): return .send(value)
        }
    }

    private func addingConditions(of entry: CacheEntry, to value: HTTPRequestValue) -> HTTPRequestValue {
        guard let head = entry.head else { return value }
        var value = value
        if let target {
            value.fields = target.fields(value.fields, addingConditionsOf: head)
        } else {
            head.addConditions(to: &value.fields)
        }
        return value
    }

    /// The 504 response for a request that must not use the network (RFC 9110 §15.6.5, RFC 9111 §5.2.1.7).
    private var timeout: CachedURLResponse {
        let response = HTTPURLResponse(
            url: attempt.request.url, statusCode: 504, version: "HTTP/1.1", fields: FieldSection(), isDecoded: false)
        return CachedURLResponse(response: response, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    // MARK: Stored responses

    /// Returns the response to deliver for a cache entry; `nil` if the entry cannot answer the request.
    ///
    /// - Parameter isValidated: Whether the server has just confirmed the response. If `false`, the response gets the
    ///   field `Age` (RFC 9111 §4).
    private func delivery(
        of entry: CacheEntry, _ question: CacheQuestion, isValidated: Bool = false
    ) -> CachedURLResponse? {
        guard let cached = question.answer(from: entry) else { return nil }
        guard let http = cached.response as? HTTPURLResponse else { return cached }
        let age = isValidated ? nil : entry.head?.age(at: CacheExchange.now)
        return CachedURLResponse(
            response: http.fromCache(age: age), data: cached.data, userInfo: cached.userInfo,
            storagePolicy: cached.storagePolicy)
    }

    /// The next step after the decision to use the stored response. Either the server has confirmed the response, or
    /// the response replaces an error.
    ///
    /// The step delivers the response. If the response cannot answer the request, the load fails.
    var confirmed: Step? {
        let state = state.withLock { $0 }
        guard let entry = state.validated ?? state.fallback, let question = state.question else { return nil }
        return delivery(of: entry, question, isValidated: state.isConfirmed).map { .deliver($0) } ?? .fail
    }

    /// Whether the stored response may be delivered although the server could not be reached (RFC 5861 §4). Either the
    /// request or the response must permit this, and neither may forbid it.
    var permitsStale: Bool {
        let state = state.withLock { $0 }
        guard let stored = (state.validated ?? state.fallback)?.head, let question = state.question else {
            return false
        }
        return CachePolicy.permitsStaleAfterError(question.fields, stored, at: CacheExchange.now)
    }

    /// Makes the load store no response, because it delivers a stored response.
    func storedRedirectFound() { state.withLock { state in state.question = nil } }

    /// Validates a stale response in the background, while the load delivers it (RFC 5861 §3). If several loads use the
    /// response at the same time, they share one validation.
    func validate(_ entry: CacheEntry, _ value: HTTPRequestValue, over network: HTTPNetwork) {
        let request = attempt.request
        guard cache.isPlain, let key,
            let engine = network.engine(for: ConnectionNeeds(request.values), isSecure: value.origin.isSecure)?.engine,
            cache.validations.withLock({ $0.insert(key).inserted })
        else { return }
        CacheRefresh(entry, key, cache, request).start(value, engine)
    }

    // MARK: Responses of the server

    /// Updates the cache with a response head. Returns how the load uses the response.
    func judge(_ head: HTTPResponseHead) -> LoadMachine.Verdict {
        let now = CacheExchange.now
        // Copy only these values out of the state. A copy of all values would take longer than the other work for most
        // responses.
        let (question, entry, fallback, requestTime) = state.withLock { state in
            state.responseTime = now
            return (state.question, state.validated, state.fallback, state.requestTime)
        }
        guard let question, entry != nil || fallback != nil || question.method == "HEAD" else { return .deliver }
        let judgement = CachePolicy.judge(
            method: question.method, request: question.fields, status: head.status, fields: head.fields,
            validated: entry?.head, fallback: fallback?.head, at: now)
        switch judgement {
        case .deliver: return .deliver
        case .deliverAndCompare:
            compareHead(head, question, requestTime, now)
            return .deliver
        case .deliverStale: return .useStored
        case .confirm:
            if let entry { confirm(entry, head, requestTime, now) }
            return .useStored
        case .sendAgain:
            if let key { cache.remove(key) }
            state.withLock { state in state.isBypassed = true }
            return .sendAgain
        }
    }

    /// Updates the stored response that a 304 response confirms.
    private func confirm(_ entry: CacheEntry, _ head: HTTPResponseHead, _ requestTime: Int, _ now: Int) {
        let fresh = entry.freshened(with: head.fields, requestTime: requestTime, responseTime: now, at: Date())
        state.withLock { state in (state.validated, state.isConfirmed) = (fresh, true) }
        if !CacheControl(head.fields).flags.contains(.noStore) { store(fresh) }
    }

    private func store(_ entry: CacheEntry) {
        guard !cache.isPlain, let task = attempt.task.task as? URLSessionDataTask else {
            if let key { cache.store(entry, for: key) }
            return
        }
        cache.storeCachedResponse(entry.response, for: task)
    }

    /// Updates the stored GET response with the fields of a HEAD response.
    ///
    /// If the two responses do not match, removes all stored responses for the URL (RFC 9111 §4.3.5).
    private func compareHead(_ head: HTTPResponseHead, _ question: CacheQuestion, _ requestTime: Int, _ now: Int) {
        guard cache.isPlain, let key, !cache.isKnownToLack(key) else { return }
        let check: @Sendable ([CacheEntry]) -> Void = { [cache] entries in
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

    // MARK: Storing

    /// Returns the values that are needed to store the response; `nil` if the response must not be stored.
    func exchange(storing response: HTTPURLResponse) -> CacheExchange? {
        let (known, requestTime, responseTime) = state.withLock { state in
            (state.question, state.requestTime, state.responseTime)
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

    /// Stores a redirect response when the load follows the redirect. The response content is complete, and no other
    /// code stores it.
    func store(redirect response: HTTPURLResponse, content: [Data]) {
        guard let exchange = exchange(storing: response), cache.isPlain, !response.isContentDecoded else { return }
        let cached = CachedURLResponse(response: response, data: content.reduce(into: Data()) { $0.append($1) })
        cache.store(cached, for: attempt.request, exchange)
    }
}

extension URLCache {
    /// After a non-error response to an unsafe method, such as POST, removes the stored responses that the request may
    /// have made obsolete (RFC 9111 §4.4).
    func invalidate(after request: URLRequest, _ head: HTTPResponseHead) {
        let method = request.values.method
        guard method != "GET", method != "HEAD", let uri = request.values.url?.absoluteString else { return }
        for uri in CachePolicy.invalidated(method: method, uri: uri, status: head.status, fields: head.fields) {
            guard isPlain else {
                if let url = URL(string: uri) { removeCachedResponse(for: URLRequest(url: url)) }
                continue
            }
            remove(MemoryCache.Key(method: "GET", url: uri))
        }
    }
}
