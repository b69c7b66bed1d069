internal import Causeway
internal import Foundation

extension TaskCore {
    // MARK: Producing resume data

    /// Cancels a download or an upload and passes its resume data to a handler, on the delegate queue.
    func cancel(producing handler: @escaping @Sendable (Data?) -> Void) {
        callOnDelegateQueue()
        let isTooLate = state.withLock { state in
            guard !state.outcome.hasEnded else { return true }
            state.outcome.resumeHandlers.append(handler)
            return false
        }
        if isTooLate { return calls.add { handler(nil) } }
        end(early: LoadFailure(.cancelled))
    }

    /// Passes an ended task's resume data to the waiting handlers.
    func answer(_ handlers: [@Sendable (Data?) -> Void], _ error: (any Error)?) {
        let error = error as? URLError
        let data = error?.downloadTaskResumeData ?? error?.uploadTaskResumeData
        for handler in handlers { calls.add { handler(data) } }
    }

    /// Keeps a failed download's file and returns resume data; `nil` if the download cannot be resumed, or if it was
    /// cancelled without a request for resume data.
    func keepForResuming(_ failure: LoadFailure) -> Data? {
        guard case .file = plan.outlet, let originalRequest, failure.permitsResuming else { return nil }
        let (content, counts, current, isWanted, isPending) = state.withLock { state in
            let isWanted = failure.cause != .cancelled || !state.outcome.resumeHandlers.isEmpty
            return (
                state.content, state.counts, state.currentRequest, isWanted && !state.outcome.hasEnded,
                state.load.isResuming
            )
        }
        guard isWanted else { return nil }
        if let transfer = plan.transfer {
            if transfer.keepsResults { return nil }
            if content.file == nil { return transfer.resumeData(for: originalRequest) }
        } else if isPending {
            // The task has requested the rest of a file from an earlier download. Give the resume data for that file to
            // the program, and do not delete the file.
            return state.withLock { state in state.load.interruption.resumption.take() ?? plan.resumption }?.data
        }
        // Resume data refers to a file in the temporary directory. A background session's file is moved there. The file
        // is closed before: if that fails, its content is not valid.
        guard let file = content.file, let response = content.response as? HTTPURLResponse,
            case let url = plan.transfer == nil ? file.url : FileSink.newURL(),
            let data = ResumeData(originalRequest, current, response, received: counts.received, file: url)?.encoded,
            (try? file.close()) != nil,
            url == file.url || (try? FileManager.default.moveItem(at: file.url, to: url)) != nil
        else { return nil }
        state.withLock { $0.content.keepsFile = true }
        return data
    }

    /// The data with which a running download can be resumed.
    ///
    /// The value is `nil` before the response, after the end, or if the download cannot be resumed. Background
    /// transfers have no such data, because their session continues them.
    var currentResumeData: Data? {
        guard case .file = plan.outlet, plan.transfer == nil, let originalRequest else { return nil }
        let (content, counts, current, isPending) = state.withLock { state in
            (
                state.outcome.hasEnded ? TaskState.Content() : state.content, state.counts, state.currentRequest,
                state.load.isResuming && !state.outcome.hasEnded
            )
        }
        if isPending { return resumption?.data }
        guard let file = content.file, let response = content.response as? HTTPURLResponse else { return nil }
        return ResumeData(
            originalRequest, current, response, received: counts.received, file: file.url, isRunning: true)?.encoded
    }

    /// Returns a failed upload's resume data; `nil` if the upload cannot be resumed, or if it was cancelled without a
    /// request for resume data.
    func uploadResumeData(_ failure: LoadFailure) -> Data? {
        guard !plan.source.isOfRequest, let originalRequest, failure.permitsResuming else { return nil }
        let (loader, waiting, isWanted) = state.withLock { state in
            let isWanted = failure.cause != .cancelled || !state.outcome.resumeHandlers.isEmpty
            return (state.load.loader as? HTTPLoader, state.load.upload?.value, isWanted && !state.outcome.hasEnded)
        }
        guard isWanted, let upload = loader?.upload ?? waiting else { return nil }
        return UploadResumeData(originalRequest, plan.source, upload)?.encoded
    }

    // MARK: Resuming

    /// The earlier download that the current request resumes; `nil` if there is none.
    private var resumption: Resumption? {
        if let transfer = plan.transfer { return transfer.resumption }
        return state.withLock { $0.load.interruption.resumption } ?? plan.resumption
    }

    /// Returns a request for the rest of the content, if the task resumes a download.
    func askingForRest(_ request: URLRequest) -> URLRequest {
        guard let resumption else { return request }
        state.withLock { $0.load.isResuming = true }
        var request = request
        resumption.apply(to: &request)
        return request
    }

    /// Opens the file for a download's response. If the response contains the rest of the content, opens the earlier
    /// file; otherwise opens a new file.
    func openFile(for response: URLResponse) {
        let isResuming = state.withLock { state in
            defer { state.load.isResuming = false }
            return state.load.isResuming
        }
        guard isResuming, let resumption else { return openNewFile() }
        let isOwn = state.withLock { state in state.load.interruption.resumption.take() != nil }
        switch (response as? HTTPURLResponse).map(resumption.judge) ?? .whole(isContent: true) {
        case .rest(let total): append(resumption, total)
        case .whole(let isContent):
            // Keep the file after an error such as 503, so that the program can use the same resume data again.
            if isContent || isOwn { FileSink.remove(resumption.file) }
            if isOwn { state.withLock { $0.counts.received = 0 } }
            openNewFile()
        case .useless: startOver(resumption)
        }
    }

    private func append(_ resumption: Resumption, _ total: Int64) {
        let isLocked = plan.transfer == nil
        guard let file = FileSink(continuing: resumption.file, at: resumption.offset, isLocked: isLocked) else {
            return startOver(resumption)
        }
        plan.transfer?.note(total: total)
        state.withLock { state in
            state.content.file = file
            state.counts.received = resumption.offset
            state.counts.expectedToReceive = total
        }
        noteProgress()
        notifyOfResuming(at: resumption.offset, total)
    }

    /// Starts the download again from the beginning, because the server cannot send the rest.
    private func startOver(_ resumption: Resumption) {
        guard let request = plan.transfer?.replacement ?? originalRequest else { return }
        leaveLoader()
        FileSink.remove(resumption.file)
        state.withLock { state in
            state.content.response = nil
            state.counts.received = 0
        }
        load(observed(session.core.favorable(session.core.completed(request))))
    }

    // MARK: Suspended downloads

    /// Continues a download with a range request after its connection was lost. This requires that the task was
    /// suspended since its latest request.
    ///
    /// During a suspension, the task reads nothing, so the server may close the connection. Each suspension permits one
    /// such range request. A task that is still suspended sends the request when it is resumed.
    ///
    /// - Returns: `false` if the failure ends the task. Always `false` for background transfers, because their session
    ///   retries them.
    func continuesSuspendedDownload(after error: any Error) -> Bool {
        guard case .file = plan.outlet, plan.transfer == nil, let failure = error as? LoadFailure,
            failure.cause == .connectionLost
        else { return false }
        let wasSuspended = state.withLock { state in
            defer { state.load.interruption.wasSuspended = false }
            return state.load.interruption.wasSuspended && !state.life.isOver && !state.load.isResuming
        }
        guard wasSuspended, let data = keepForResuming(failure),
            let rest = ResumeData(data).flatMap({ Resumption($0, data: data) })
        else { return false }
        leaveLoader()
        let isRunning = state.withLock { state in
            let isRunning = state.life.state == .running
            state.load.isResuming = true
            state.load.interruption.resumption = rest
            state.load.interruption.isWaiting = !isRunning
            state.content.file = nil
            state.content.keepsFile = false
            state.content.response = nil
            return isRunning
        }
        if isRunning { loadRest() }
        return true
    }

    /// Requests the part of the download that is still missing.
    func loadRest() {
        guard let originalRequest, let resumption else { return }
        var request = observed(session.core.completed(originalRequest))
        resumption.apply(to: &request)
        load(request)
    }

    /// Opens a new file for the content of a download that starts from the beginning.
    func openNewFile() {
        do throws(LoadFailure) {
            let file = if let transfer = plan.transfer { try newFile(of: transfer) } else { try FileSink() }
            state.withLock { $0.content.file = file }
        } catch {
            finish(error)
        }
    }

    private func notifyOfResuming(at offset: Int64, _ total: Int64) {
        guard case .file(nil) = plan.outlet, let task = task as? URLSessionDownloadTask else { return }
        let candidates = delegates.compactMap(\.download)
        calls.add { [session] in
            for delegate in candidates {
                let isTaken = DelegateProbe.call(delegate, .resumed) {
                    delegate.urlSession(
                        session, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: total)
                }
                if isTaken { return }
            }
        }
    }
}

extension LoadFailure {
    /// Whether the transfer can be resumed after this failure. After a lost connection, for example, the transferred
    /// content is still valid.
    fileprivate var permitsResuming: Bool {
        switch cause {
        case .cancelled, .timedOut, .connectionLost, .connectionRefused, .hostNotFound, .notConnected: true
        default: false
        }
    }
}
