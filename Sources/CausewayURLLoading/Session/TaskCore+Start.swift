internal import Causeway
internal import Foundation

extension TaskCore {
    /// Starts loading if the task is running and has not started loading yet.
    func begin(at now: Duration = MonotonicTime.now) {
        let limit = session.core.settings.timeouts.resource
        let resourceLimit = plan.transfer?.remaining(of: limit) ?? limit
        let (begins, deadline) = state.withLock { state -> (Bool, Duration?) in
            guard state.life.begin() else { return (false, nil) }
            state.clock.begin(at: now, resourceLimit: resourceLimit)
            return (true, state.deadline)
        }
        guard begins else { return }
        if let deadline { session.core.watch(until: deadline) }
        if let failure = plan.failure { return finish(failure) }
        if let stream { return startStream(stream) }
        if let transfer = plan.transfer {
            state.withLock { $0.clock.pause(for: .waiting) }
            return transfer.session.enqueue(self)
        }
        guard let request = originalRequest else { return finish(LoadFailure(.unsupportedURL)) }
        attachBody(to: askingForRest(prepared(observed(session.core.completed(request)))))
    }

    /// Sets the body of an upload request. A body that the request already has is ignored for uploads.
    func attachBody(to request: URLRequest) {
        var request = request
        switch plan.source {
        case .request: load(request)
        case .data(let data):
            request.httpBody = data
            load(request)
        case .file(let url):
            do throws(LoadFailure) {
                _ = try FileFacts.size(of: url)
                request.httpBodyStream = InputStream(url: url)
                load(request)
            } catch {
                finish(error)
            }
        case .form(let content):
            request.httpBodyStream = FormInputStream(content)
            load(request)
        case .stream where plan.upload != nil:
            // The delegate supplies the stream later, because the server must first report the offset from which the
            // upload continues.
            request.httpBodyStream = InputStream(data: Data())
            load(request)
        case .stream:
            askForStream(from: 0) { [self, request] stream in
                guard let stream else { return finish(LoadFailure(.bodyStreamExhausted)) }
                var request = request
                request.httpBodyStream = stream.value
                load(request)
            }
        }
    }

    /// Loads a request from the cache if its cache policy says so, otherwise with a loader.
    func load(_ request: URLRequest) {
        let request = session.core.network.secured(request)
        state.withLock { $0.currentRequest = request }
        let isFromCache =
            request.cachePolicy == .returnCacheDataElseLoad || request.cachePolicy == .returnCacheDataDontLoad
        // Check here that the URL has a scheme. Do this only if the cache or a program's `URLProtocol` class may answer
        // the request, because this check takes longer than the others. In all other cases, the built-in loaders check
        // it.
        guard !isFromCache && !session.core.hasProgramProtocols || request.url?.scheme != nil else {
            return finish(LoadFailure(.unsupportedURL))
        }
        // An HTTP loader uses the cache itself, so the cache is not asked here.
        guard isFromCache, plan.usesCache, !isLoadedByHTTP(request), let dataTask = task as? URLSessionDataTask else {
            return startLoader(request, cached: nil)
        }
        guard let cache = session.core.settings.stores.cache else { return useCached(nil, for: request) }
        let hold = hold()
        cache.getCachedResponse(for: dataTask) { [self] cached in
            release(hold) { [self] in useCached(cached, for: request) }
        }
    }

    private func isLoadedByHTTP(_ request: URLRequest) -> Bool {
        guard !session.core.hasProgramProtocols, let scheme = request.url?.scheme?.lowercased() else { return false }
        return scheme == "http" || scheme == "https"
    }

    private func useCached(_ cached: CachedURLResponse?, for request: URLRequest) {
        guard cached != nil || request.cachePolicy != .returnCacheDataDontLoad else {
            return finish(LoadFailure(.notInCache))
        }
        startLoader(request, cached: cached)
    }

    private func startLoader(_ request: URLRequest, cached: CachedURLResponse?) {
        guard let task else { return finish(LoadFailure(.cancelled)) }
        // A program's `URLProtocol` class can load a response, but it cannot open a WebSocket connection.
        let type = webSocket == nil ? session.core.protocolClass(for: task, request) : nil
        let isBuiltIn = type.map { BuiltInProtocols.contains($0) } ?? true
        let canonical = isBuiltIn ? request : type?.canonicalRequest(for: request) ?? request
        let attempt = LoadAttempt(request: canonical, task: self, isFromProgram: !isBuiltIn)
        state.withLock { state in
            if !isBuiltIn { state.currentRequest = canonical }
            state.load.attempt = attempt
        }
        if isMeasured { noteTransaction(canonical) }
        do throws(LoadFailure) {
            let loader = try loader(type, isBuiltIn, task, cached, attempt)
            // If the task was cancelled while the loader was created, the loader is not started.
            let isWanted = state.withLock { state in
                guard !state.life.isOver, !state.outcome.hasEnded else { return false }
                state.load.loader = loader
                return true
            }
            if isWanted { loader.start() }
        } catch {
            finish(error)
        }
    }

    /// Begins the metrics of a transaction. Called only if a delegate or an observer receives the metrics.
    private func noteTransaction(_ request: URLRequest) {
        var record = TransactionRecord(request: request)
        record.dates.fetchStart = Date()
        state.withLock { state in state.load.transactions.append(record) }
    }

    private func loader(
        _ type: URLProtocol.Type?, _ isBuiltIn: Bool, _ task: URLSessionTask, _ cached: CachedURLResponse?,
        _ attempt: LoadAttempt
    ) throws(LoadFailure) -> any Loader {
        if let cached { return DataLoader(cached, for: attempt) }
        if !isBuiltIn, let type {
            let stored = plan.usesCache ? session.core.cachedResponse(for: attempt.request) : nil
            return ProtocolLoader(type, task: task, cachedResponse: stored, for: attempt)
        }
        guard let url = attempt.request.url else { throw LoadFailure(.unsupportedURL) }
        if webSocket != nil { return try webSocketLoader(for: url, attempt) }
        if let target = session.core.network.lastTarget(of: url.absoluteString) {
            return HTTPLoader(session.core.network, for: attempt, target)
        }
        switch url.scheme?.lowercased() {
        case "data":
            guard let loader = DataLoader(dataURL: url, for: attempt) else { throw LoadFailure(.badURL) }
            return loader
        case "http", "https": return HTTPLoader(session.core.network, for: attempt)
        case "file": return FileLoader(url: url, for: attempt)
        default: throw LoadFailure(.unsupportedURL)
        }
    }
}
