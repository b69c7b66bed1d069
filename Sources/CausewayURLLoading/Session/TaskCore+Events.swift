internal import Causeway
internal import CausewayHTTP
internal import Foundation

extension TaskCore {
    /// The maximum number of followed redirects (RFC 9110 §15.4).
    static let maximumRedirects = 20

    /// Handles an event from the current loader.
    func handle(_ event: LoadEvent) {
        switch event {
        case .response(let response, let policy): received(response, policy)
        case .cacheable(let exchange): state.withLock { $0.content.exchange = exchange }
        case .data(let data): received(data)
        case .sent(let count): sent(count)
        case .sendsAgain(let offset):
            state.withLock { $0.counts.sent = offset }
            noteProgress()
        case .informational(let response):
            noteUpload()
            notify(.informationalResponse) { $0.urlSession($1, task: $2, didReceiveInformationalResponse: response) }
        case .waiting:
            state.withLock { $0.clock.pause(for: .waiting) }
            notify(.waitsForConnectivity) { delegate, session, task in
                delegate.urlSession(session, taskIsWaitingForConnectivity: task)
            }
        case .continues:
            let now = MonotonicTime.now
            state.withLock { $0.clock.goOn(after: .waiting, at: now) }
            session.core.watch(self)
        case .redirect(let redirect): redirected(redirect)
        case .continuation(let request): follow(request)
        case .challenge(let challenge, let answer): ask(challenge, answer)
        case .needsStream(let offset, let answer): askForStream(from: offset) { answer($0) }
        case .measured(let record): measured(record)
        case .begins(let record): state.withLock { $0.load.transactions.append(record) }
        case .upgraded(let opening): upgraded(opening)
        case .switched(let response, let stream): received(response, .notAllowed, switched: stream)
        case .finished: loaderFinished()
        case .whole(let response, let data, let exchange): received(response, data, exchange)
        case .failed(let error): if !continuesSuspendedDownload(after: error) { finish(error) }
        }
    }

    // MARK: The response head

    /// Handles the arrival of the response head.
    ///
    /// - Parameter switched: The connection, if the server has switched to another protocol; otherwise `nil`.
    private func received(
        _ response: URLResponse, _ policy: URLCache.StoragePolicy, switched: HTTPUpgradedStream? = nil
    ) {
        if isLeftToProgram(response) { return finish(LoadFailure(.cancelled)) }
        let (isFirst, hasProgress) = state.withLock { state in
            let isFirst = state.content.response == nil
            state.content.response = response
            state.content.cachePolicy = policy
            state.content.forCache = nil
            state.counts.expectedToReceive = response.expectedContentLength
            if let last = state.load.transactions.indices.last {
                state.load.transactions[last].response = response
                if state.load.transactions[last].dates.response.start == nil {
                    state.load.transactions[last].dates.response.start = Date()
                }
            }
            return (isFirst, state.progress != nil)
        }
        if mayCache(response, policy) {
            let limit = session.core.maximumCachedSize
            state.withLock { state in
                state.content.forCache = Data()
                state.content.cacheLimit = limit
            }
        }
        if hasProgress { noteProgress() }
        switch plan.outlet {
        // As on Apple platforms, do not ask the delegate about responses to background uploads.
        case .delegate where plan.transfer != nil: break
        case .delegate: askForDisposition(response, switched)
        case .bytes(let channel): channel.respond(response)
        case .file: if isFirst { openFile(for: response) }
        case .handler: if !isFirst { state.withLock { $0.content.collected = Data() } }
        case .webSocket, .stream: break
        }
    }

    // MARK: Content

    private func received(_ data: Data) {
        let isCollected = if case .handler = plan.outlet { true } else { false }
        let (total, expected, file, isTaken, hasProgress) = state.withLock { state in
            let isTaken = isCollected && !state.isFull
            if isCollected { state.content.collect(data) }
            if isTaken { state.counts.pending -= data.count }
            state.counts.received += Int64(data.count)
            state.content.keepForCache(data)
            return (
                state.counts.received, state.counts.expectedToReceive, state.content.file, isTaken,
                state.progress != nil
            )
        }
        if hasProgress { noteProgress() }
        switch plan.outlet {
        case .delegate:
            plan.transfer?.keep(data)
            deliver(data)
        case .handler: if !isTaken { took(data.count) }
        case .bytes(let channel): channel.append(data)
        case .webSocket, .stream: took(data.count)
        case .file:
            do throws(LoadFailure) {
                try file?.write(data)
                if let file { try plan.transfer?.wrote(data.count, total: total, to: file) }
                notifyOfWriting(data.count, total, expected)
            } catch {
                finish(error)
            }
        }
    }

    /// Handles a response that arrived as a whole, for a task with a completion handler. The response's loader has
    /// ended, so it need not be stopped.
    private func received(_ response: HTTPURLResponse, _ data: Data, _ exchange: CacheExchange?) {
        if isLeftToProgram(response) { return finish(LoadFailure(.cancelled)) }
        let expected = response.expectedContentLength
        // The values that the cache needs from the request. The loader passes them only if the content length in the
        // response fits into the cache.
        let isStorable = exchange != nil && (expected == data.count || data.count <= session.core.maximumCachedSize)
        let hasProgress = state.withLock { state in
            state.load.loader = nil
            state.content.response = response
            state.content.collected = data
            state.content.cachePolicy = exchange == nil ? .notAllowed : .allowed
            state.content.exchange = exchange
            state.content.forCache = isStorable ? data : nil
            state.counts.expectedToReceive = expected
            state.counts.received += Int64(data.count)
            return state.progress != nil
        }
        if hasProgress { noteProgress() }
        loaderFinished()
    }

    private func sent(_ count: Int64) {
        state.withLock { $0.counts.sent += count }
        noteProgress()
        if count > 0 { notifyOfSending(count) }
    }

    private func measured(_ record: TransactionRecord) {
        state.withLock { state in
            guard let last = state.load.transactions.indices.last else { return }
            let before = state.load.transactions[last]
            state.load.transactions[last] = record
            state.load.transactions[last].dates.fetchStart = record.dates.fetchStart ?? before.dates.fetchStart
            state.load.transactions[last].response = record.response ?? before.response
            state.load.transactions[last].dates.response.start =
                record.dates.response.start ?? before.dates.response.start
        }
    }

    // MARK: Redirects

    private func redirected(_ redirect: Redirect) {
        let response = redirect.response
        if redirect.decline == nil { leaveLoader() }
        let isTooLong = state.withLock { state in
            if let last = state.load.transactions.indices.last { state.load.transactions[last].response = response }
            return state.load.redirectCount >= Self.maximumRedirects
        }
        guard !isTooLong else { return finish(LoadFailure(.tooManyRedirects)) }
        let byDefault: @Sendable () -> Void = { [self] in
            if let refusal = redirect.refusal { finish(refusal) } else { follow(redirect.request) }
        }
        guard session.core.settings.background.identifier == nil else { return byDefault() }
        askAboutRedirect(response, redirect.request) { [self] answer in
            guard case .decided(let request) = answer else { return byDefault() }
            if let request { return follow(request) }
            // The delegate does not want to follow the redirect. So the redirect response becomes the final response.
            if let decline = redirect.decline { return decline() }
            received(response, .notAllowed)
            // The delegate can have a method that decides about a response. Post this work as a message, so that it is
            // handled after that decision.
            if state.withLock({ $0.mailbox.post(.run { [self] in loaderFinished() }) }) { drainLater() }
        }
    }

    private func follow(_ request: URLRequest) {
        leaveLoader()
        let before = state.withLock { state in
            state.load.redirectCount += 1
            state.content.response = nil
            state.content.exchange = nil
            state.counts.sent = 0
            return state.currentRequest?.values.body
        }
        // The content stream of the previous request was already read. So this request needs a new stream.
        guard case .stream = request.values.body, request.values.body == before else { return load(request) }
        attachStream(to: request)
    }

    private func attachStream(to request: URLRequest) {
        var request = request
        if let stream = plan.source.newStream {
            request.httpBodyStream = stream
            return load(request)
        }
        askForStream(from: 0) { [self, request] stream in
            guard let stream else { return finish(LoadFailure(.bodyStreamExhausted)) }
            var request = request
            request.httpBodyStream = stream.value
            load(request)
        }
    }

    /// Stops the current loader. Its later events are ignored.
    func leaveLoader() {
        let loader = state.withLock { state in
            defer {
                state.load.loader = nil
                state.load.attempt = nil
            }
            if let last = state.load.transactions.indices.last, state.load.attempt != nil {
                let end = state.load.transactions[last].dates.response.end
                if state.load.transactions[last].response != nil {
                    state.load.transactions[last].dates.response.end = end ?? Date()
                }
            }
            return state.load.loader
        }
        loader?.stop()
    }
}
