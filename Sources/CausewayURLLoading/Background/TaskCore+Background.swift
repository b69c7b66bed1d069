internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// Background tasks. They wait in the session's queue and are retried after failures.
extension TaskCore {
    /// The maximum number of stored transaction records from earlier attempts.
    private static let maximumRecords = 100

    // MARK: Attempts

    /// Starts an attempt. The session calls this when the queue lets the task run.
    func startTransfer() {
        perform { [self] _ in
            guard plan.transfer?.takeDelayedStart() == true, let originalRequest else { return attempt(nil) }
            askAboutDelay(originalRequest) { [self] disposition, request in
                switch disposition {
                case .continueLoading: attempt(nil)
                case .useNewRequest: attempt(request)
                case .cancel: finish(LoadFailure(.cancelled))
                }
            }
        }
    }

    /// - Parameter replacement: The request that the delegate has chosen in place of the original one; `nil` if there
    ///   is none.
    private func attempt(_ replacement: URLRequest?) {
        guard let transfer = plan.transfer, let request = replacement ?? transfer.replacement ?? originalRequest,
            !state.withLock({ $0.life.isOver || $0.outcome.hasEnded })
        else { return }
        let now = MonotonicTime.now
        let (moved, isUpload) = state.withLock { state in
            state.clock.goOn(after: .waiting, at: now)
            return (state.counts.received, !plan.source.isOfRequest)
        }
        session.core.watch(self)
        if let replacement { transfer.replace(replacement) }
        transfer.beginAttempt(moved: moved)
        if isUpload, state.withLock({ $0.load.upload }) == nil, let upload = transfer.upload {
            state.withLock { $0.load.upload = Boxed(upload) }
        }
        attachBody(to: askingForRest(observed(session.core.favorable(session.core.completed(request)))))
    }

    /// Returns whether the background task will be retried after this failure. If so, the failure ends only the
    /// attempt.
    func retries(after failure: LoadFailure) -> Bool {
        guard let transfer = plan.transfer, failure.mayPass else { return false }
        let (isOver, file, received, loader) = state.withLock { state in
            let isOver = state.life.isOver || state.outcome.hasEnded
            return (isOver, state.content.file, state.counts.received, state.load.loader)
        }
        // If the upload has already received response content, do not retry it. A retry would deliver this content
        // twice.
        guard !isOver, !transfer.isUpload || received == 0 else { return false }
        let upload = (loader as? HTTPLoader)?.upload
        leaveLoader()
        // If the file cannot be closed, its content may be lost. The next attempt must not continue after it.
        if let file, (try? file.close()) == nil { file.remove() }
        if let upload, let originalRequest { transfer.note(upload, of: originalRequest, plan.source) }
        if transfer.isUpload { transfer.dropBody() }
        state.withLock { state in
            state.clock.pause(for: .waiting)
            state.content.response = nil
            state.content.file = nil
            state.counts.sent = 0
            state.load.upload = nil
            // The next attempt begins with the original request, so its redirects are counted from 0. For the metrics,
            // keep only the latest transactions, because a task can be retried for days.
            state.load.redirectCount = 0
            state.load.transactions = Array(state.load.transactions.suffix(Self.maximumRecords))
        }
        session.core.watch(self)
        let progressed = transfer.isUpload ? transfer.hasProgressed(upload) : transfer.hasProgressed(received)
        transfer.session.attemptFailed(identifier, progressed: progressed)
        return true
    }

    /// Handles a timeout that has expired.
    ///
    /// If only the idle timeout of a background transfer has expired, the attempt ends. In all other cases, the task
    /// ends.
    func timedOut(at now: Duration) {
        let isOnlyIdle = state.withLock { state in
            guard plan.transfer != nil, state.clock.resourceDeadline.map({ $0 > now }) ?? true else { return false }
            state.clock.pause(for: .waiting)
            return true
        }
        guard isOnlyIdle else { return end(early: LoadFailure(.timedOut)) }
        perform { $0.finish(LoadFailure(.timedOut)) }
    }

    /// Whether only the program can handle a response, such as an authentication challenge. `nw transfers` does not
    /// deliver such a response and leaves the task to the program.
    func isLeftToProgram(_ response: URLResponse) -> Bool {
        guard plan.transfer?.keepsResults == true, let status = (response as? HTTPURLResponse)?.statusCode else {
            return false
        }
        return status == 401 || status == 407
    }

    /// Stores the state of a resumable upload, after the server has created an upload resource.
    func noteUpload() {
        guard let transfer = plan.transfer, transfer.isUpload, let originalRequest,
            let upload = state.withLock({ $0.load.loader as? HTTPLoader })?.upload
        else { return }
        transfer.note(upload, of: originalRequest, plan.source)
    }

    /// Creates the file that stores the content of the current response.
    func newFile(of transfer: BackgroundTransfer) throws(LoadFailure) -> FileSink {
        let (response, current) = state.withLock { state in
            state.counts.received = 0
            return (state.content.response, state.currentRequest)
        }
        return try transfer.newFile(for: response, of: originalRequest, current)
    }

    // MARK: Results

    /// Records that the transfer's content is complete. On an error, ends the task with this error and returns `false`.
    func storeResult(_ transfer: BackgroundTransfer) -> Bool {
        do throws(LoadFailure) {
            try transfer.finished(state.withLock { $0.content.response })
            return true
        } catch {
            finish(error)
            return false
        }
    }

    /// Removes the file of a failed task. In a process of `nw transfers`, the file stays, because the program still
    /// needs it.
    func abandon(_ file: FileSink?) {
        guard let file else { return }
        if plan.transfer?.keepsResults == true { try? file.close() } else { file.remove() }
    }

    /// Delivers a result that another process has completed and stored.
    func deliverStored(_ transfer: BackgroundTransfer) {
        let record = transfer.record
        let response = record.response.flatMap { HTTPURLResponse.restored($0) }
        let store = transfer.store
        let content = Result { () throws(SystemError) in try store.readableContentSize(identifier) }
        let (size, url) = (try? content.get(), store.contentURL(identifier))
        state.withLock { state in
            _ = state.life.resume()
            _ = state.life.begin()
            state.content.response = response
            if !transfer.isUpload { state.counts.received = size ?? 0 }
            state.counts.expectedToReceive = response?.expectedContentLength ?? -1
        }
        if case .failure = content { return failDelivery(of: transfer) }
        guard size != nil else { return finish(nil) }
        guard transfer.isUpload else {
            guard let file = FileSink(continuing: url, at: size ?? 0, isLocked: false) else {
                return failDelivery(of: transfer)
            }
            state.withLock { $0.content.file = file }
            return finishDownload(nil)
        }
        guard !record.content.isCut else { return finish(LoadFailure(.tooLarge)) }
        guard let data = transfer.body else { return failDelivery(of: transfer) }
        if !data.isEmpty {
            state.withLock { state in
                state.counts.received = Int64(data.count)
                state.counts.pending += data.count
            }
            deliver(data)
        }
        finish(nil)
    }

    /// Fails a task whose stored result cannot be read now. The result stays for the program's next session.
    private func failDelivery(of transfer: BackgroundTransfer) {
        transfer.keepFiles()
        finish(LoadFailure(.fileNotOpened))
    }

    private func askAboutDelay(
        _ request: URLRequest, then: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        typealias Answer = (URLSession.DelayedRequestDisposition, URLRequest?)
        guard let task else { return }
        let question = DelegateQuestion<any URLSessionTaskDelegate, Answer>(
            method: .willBeginDelayed,
            ask: { [session] delegate, answer in
                delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { answer(($0, $1)) }
            },
            asyncMethod: .willBeginDelayedAsync,
            askAsync: { [session] in await $0.urlSession(session, task: task, willBeginDelayedRequest: request) })
        ask(question, delegates.compactMap(\.task), fallback: (.continueLoading, nil)) { then($0.0, $0.1) }
    }
}

extension LoadFailure {
    /// Whether another attempt can succeed although the program changes nothing.
    fileprivate var mayPass: Bool {
        switch cause {
        case .timedOut, .hostNotFound, .connectionRefused, .connectionLost, .notConnected: true
        default: false
        }
    }
}
