internal import Causeway
internal import Foundation

extension TaskCore {
    /// Completes or continues the task after all content has arrived.
    func loaderFinished() {
        let (hasEnded, isForCache) = state.withLock { state in (state.outcome.hasEnded, state.content.forCache != nil) }
        guard !hasEnded else { return }
        if case .file(let handler) = plan.outlet {
            leaveLoader()
            return finishDownload(handler)
        }
        if let transfer = plan.transfer {
            leaveLoader()
            guard storeResult(transfer) else { return }
        }
        if isForCache {
            leaveLoader()
            guard storesAtOnce() else { return }
        }
        finish(nil)
    }

    /// Completes the task with a failure.
    func finish(_ failure: LoadFailure) {
        if retries(after: failure) { return }
        let (url, method) = state.withLock { ($0.currentRequest?.url ?? nil, $0.currentRequest?.httpMethod) }
        var failure = failure
        if let method, method != originalRequest?.httpMethod { failure.details[LoadFailure.changedMethodKey] = method }
        if let data = keepForResuming(failure) { failure.details[NSURLSessionDownloadTaskResumeData] = data }
        if let data = uploadResumeData(failure) { failure.details[NSURLSessionUploadTaskResumeData] = data }
        finish(failure.urlError(for: url ?? originalRequest?.url))
    }

    /// Completes the task: stops the loader and schedules the final callback. Only the first call has an effect.
    func finish(_ error: (any Error)?) {
        if let failure = error as? LoadFailure { return finish(failure) }
        let (isFirst, handlers, abandoned, rest) = state.withLock { state in
            defer {
                state.outcome.hasEnded = true
                state.outcome.resumeHandlers = []
            }
            state.clock.end()
            let abandoned = error != nil && !state.content.keepsFile ? state.content.file : nil
            let rest = state.load.interruption.resumption.take()
            return (!state.outcome.hasEnded, state.outcome.resumeHandlers, abandoned, rest)
        }
        guard isFirst else { return }
        if let rest { FileSink.remove(rest.file) }
        leaveLoader()
        webSocket?.end(error)
        stream?.end(error)
        abandon(abandoned)
        answer(handlers, error)
        // If the program sets a delegate after this line, the callback can still run on any thread. It then leaves the
        // delegate out.
        let mayCallDelegates = calls.mayCallProgram
        calls.add { [self] in complete(error, mayCallDelegates: mayCallDelegates) }
    }

    // MARK: Downloads

    func finishDownload(_ handler: TaskPlan.FileHandler?) {
        guard let file = state.withLock({ $0.content.file }) else { return finish(LoadFailure(.protocolViolation)) }
        do throws(LoadFailure) {
            // Without this, a result could be recorded as complete although its content never reached the disk.
            if let transfer = plan.transfer, transfer.record.stage != .finished, !file.synchronize() {
                throw LoadFailure(.fileNotWritten)
            }
            try file.close()
        } catch {
            return finish(error)
        }
        if let transfer = plan.transfer {
            guard storeResult(transfer) else { return }
            if transfer.session.role == .command { return finish(nil) }
        }
        guard handler == nil, let task = task as? URLSessionDownloadTask else { return finish(nil) }
        let receivers = delegates.compactMap(\.download)
        calls.add { [self] in
            let isOver = state.withLock { $0.life.isOver }
            if !isOver, let delegate = receivers.first {
                delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file.url)
            }
            // Remove the file, unless the session ended and left its tasks in the store. In that case the file must
            // stay: the program's next session with the same identifier needs it.
            if !isOver || plan.transfer?.keepsResults != true { file.remove() }
        }
        finish(nil)
    }

    // MARK: The cache

    /// Returns whether the response may be stored in the cache.
    ///
    /// A response from a `URLProtocol` class must be a successful response to a GET request, and its header fields must
    /// not forbid storage. All other responses have already been checked by their loader.
    func mayCache(_ response: URLResponse, _ policy: URLCache.StoragePolicy) -> Bool {
        guard policy != .notAllowed, plan.usesCache, session.core.settings.stores.cache != nil else { return false }
        if state.withLock({ $0.content.exchange != nil }) { return true }
        guard let request = state.withLock({ $0.currentRequest }), request.httpMethod == "GET",
            let response = response as? HTTPURLResponse, (200..<300).contains(response.statusCode)
        else { return false }
        let directives = response.value(forHTTPHeaderField: "Cache-Control")?.lowercased() ?? ""
        return !directives.contains("no-store") && response.value(forHTTPHeaderField: "Vary") != "*"
    }

    /// Returns whether the delegate is asked before a response is stored in the cache. As on Apple platforms, the
    /// delegate is asked only about successful responses.
    private func mayBeRefused(_ response: URLResponse) -> Bool {
        (200..<300).contains((response as? HTTPURLResponse)?.statusCode ?? 200)
    }

    private static func store(
        _ chosen: CachedURLResponse, in cache: URLCache, _ exchange: CacheExchange?, _ request: URLRequest?,
        for task: URLSessionDataTask
    ) {
        guard cache.isPlain, let exchange, let request else { return cache.storeCachedResponse(chosen, for: task) }
        cache.store(chosen, for: request, exchange)
    }

    /// Stores the response in the cache and returns `true`. If the delegate must be asked first, returns `false`. In
    /// that case, the task ends after the delegate's decision.
    private func storesAtOnce() -> Bool {
        let (data, response, policy, exchange, request) = state.withLock {
            ($0.content.forCache, $0.content.response, $0.content.cachePolicy, $0.content.exchange, $0.currentRequest)
        }
        guard let data, let response, let cache = session.core.settings.stores.cache,
            let task = task as? URLSessionDataTask
        else { return true }
        let proposed = CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: policy)
        guard case .delegate = plan.outlet, mayBeRefused(response) else {
            Self.store(proposed, in: cache, exchange, request, for: task)
            return true
        }
        askAboutCaching(proposed) { [self] chosen in
            if let chosen { Self.store(chosen, in: cache, exchange, request, for: task) }
            finish(nil)
        }
        return false
    }

    // MARK: The final callback

    /// Runs the task's final callback.
    ///
    /// - Parameters:
    ///   - result: The error with which the load has ended; `nil` if it succeeded.
    ///   - mayCallDelegates: Whether the callback runs on the delegate queue.
    private func complete(_ result: (any Error)?, mayCallDelegates: Bool) {
        let (isFirst, error, hasProgress, hasOwnDelegate) = state.withLock {
            state -> (Bool, (any Error)?, Bool, Bool) in
            // If the program cancels the task between the end of the load and this callback, the task fails, because
            // the content has been discarded.
            let isCancelled = result == nil && state.life.state == .canceling
            let error = isCancelled ? LoadFailure(.cancelled).urlError(for: originalRequest?.url) : result
            state.outcome.error = error
            return (state.life.complete(), error, state.progress != nil, state.options.delegate != nil)
        }
        guard isFirst, let task else { return }
        if hasProgress { finishProgress() }
        reportMetrics(of: task, error, mayCallDelegates: mayCallDelegates)
        callHandler(error, task)
        if hasOwnDelegate { releaseDelegate() }
        plan.transfer?.ended(isCancelled: (error as? URLError)?.code == .cancelled)
        session.core.remove(task)
    }

    /// Releases the delegate of a completed task. No other delegate can be set any more.
    func releaseDelegate() {
        // Release the delegate only after the lock is released, because the delegate's deinitializer can use the task.
        let delegate = state.withLock { $0.options.delegate.take() }
        withExtendedLifetime(delegate) {}
    }

    private func reportMetrics(of task: URLSessionTask, _ error: (any Error)?, mayCallDelegates: Bool) {
        guard isMeasured else { return }
        let receivers = mayCallDelegates ? delegates : []
        let candidates = receivers.compactMap(\.task).filter { !DelegateProbe.isKnownToLack($0, .metrics) }
        guard !candidates.isEmpty || !session.core.settings.observers.isEmpty else { return }
        let (records, redirects) = state.withLock { ($0.measuredTransactions, $0.load.redirectCount) }
        let metrics = URLSessionTaskMetrics(
            transactions: records.map { URLSessionTaskTransactionMetrics($0) },
            interval: DateInterval(start: created, end: max(created, Date())), redirectCount: redirects)
        notifyObserversOfEnd(task, metrics, error)
        for delegate in candidates {
            let isTaken = DelegateProbe.call(delegate, .metrics) {
                delegate.urlSession(session, task: task, didFinishCollecting: metrics)
            }
            if isTaken { return }
        }
    }

    private func callHandler(_ error: (any Error)?, _ task: URLSessionTask) {
        let (response, data, file, keepsFile) = state.withLock {
            ($0.content.response, $0.content.collected, $0.content.file, $0.content.keepsFile)
        }
        switch plan.outlet {
        case .handler(let handler): handler(error == nil ? data : nil, response, error)
        case .file(let handler?):
            handler(error == nil ? file?.url : nil, response, error)
            if !keepsFile { file?.remove() }
        case .bytes(let channel): channel.finish(error)
        case .delegate, .file(nil), .webSocket, .stream:
            for delegate in delegates.compactMap(\.task) {
                let isTaken = DelegateProbe.call(delegate, .completed) {
                    delegate.urlSession(session, task: task, didCompleteWithError: error)
                }
                if isTaken { return }
            }
        }
    }

    // MARK: Conversion

    /// Converts the data task to a download task. The download task takes over the rest of the load, the suspensions,
    /// the priority and the task's own delegate.
    func becomeDownload() {
        guard let old = task as? URLSessionDataTask, let request = originalRequest else { return }
        // Do not store the new download task either: a background session does not store data tasks, and this task was
        // one.
        let core = session.core.makeCore(
            session, request, TaskPlan(source: plan.source, outlet: .file(nil)), isStored: false)
        let download = URLSessionDownloadTask(core: core)
        // The loader can report events during the conversion. The data task's lock is held while both tasks change. So
        // each event reaches only one task, and the events stay in order.
        let hold = state.withLock { state -> Mailbox<TaskMessage>.Hold in
            let messages = state.mailbox.takeAll()
            let hold = core.adopt(state, messages)
            state.load = TaskState.Load()
            state.outcome.hasEnded = true
            state.clock.end()
            state.content = TaskState.Content()
            _ = state.life.complete()
            return hold
        }
        session.core.addContinuing(download)
        session.core.watch(core)
        moveObservations(to: core)
        let receivers = delegates.compactMap(\.data)
        calls.add { [self] in
            for delegate in receivers {
                let isTaken = DelegateProbe.call(delegate, .becameDownload) {
                    delegate.urlSession(session, dataTask: old, didBecome: download)
                }
                if isTaken { break }
            }
            releaseDelegate()
            session.core.remove(old)
            core.continueAdopted(after: hold)
        }
    }

    /// Takes over a data task's load. The caller holds the data task's lock. Returns a hold: the download task handles
    /// no messages until the hold is released.
    ///
    /// - Parameters:
    ///   - old: The data task's state.
    ///   - messages: The data task's messages that have not been handled.
    private func adopt(_ old: TaskState, _ messages: [TaskMessage]) -> Mailbox<TaskMessage>.Hold {
        let now = MonotonicTime.now
        let limit = session.core.settings.timeouts.resource
        let hold = state.withLock { state -> Mailbox<TaskMessage>.Hold in
            state.life.begin(continuing: old.life)
            state.clock.begin(at: now, resourceLimit: limit)
            // Stop the idle timeout until the delegate has returned. Until then, the task handles no messages.
            state.clock.pause(for: .question)
            if old.life.suspensions > 0 { state.clock.pause(for: .suspension) }
            state.load = old.load
            state.content.response = old.content.response
            state.counts = old.counts
            // The data task still makes its own reports.
            state.counts.unreportedSent = []
            state.options.takeOver(old.options)
            state.currentRequest = old.currentRequest
            let hold = state.mailbox.hold()
            for message in messages { _ = state.mailbox.post(message) }
            return hold
        }
        old.load.attempt?.move(to: self)
        return hold
    }

    /// Delivers the data task's held messages to the download task, after the delegate has been notified of the
    /// download task.
    ///
    /// If the delegate has cancelled the download task, these messages were already discarded.
    private func continueAdopted(after hold: Mailbox<TaskMessage>.Hold) {
        release(hold) { [self] in openNewFile() }
        state.withLock { $0.load.loader }?.demandChanged()
    }
}
