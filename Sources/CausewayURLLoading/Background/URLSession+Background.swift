internal import CausewayProtocols
internal import CausewaySystem
package import Foundation

extension URLSession {
    /// Creates a session that stores its tasks in a directory.
    ///
    /// - Parameters:
    ///   - configuration: A configuration for background transfers.
    ///   - delegate: The session's delegate.
    ///   - queue: The queue for delegate calls. If `nil`, the session creates a serial queue.
    ///   - directory: The directory. Other users must have no access to it. The session creates it if needed.
    package convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue? = nil, transfersIn directory: String
    ) {
        let settings = configuration.settings
        let place = BackgroundPlace(settings, directory: directory)
        self.init(core: SessionCore(settings, delegate: delegate, queue: queue, background: place))
    }

    /// The reason why no background task can run; `nil` if tasks can run. Either another session uses the identifier,
    /// or the directory cannot be used.
    package var transferObstacle: URLError.Code? {
        switch core.background {
        case .unusable: .cannotCreateFile
        case .stored(let session) where session.access == .refused: .backgroundSessionInUseByAnotherProcess
        case .foreground, .memory, .stored: nil
        }
    }

    /// Invalidates the session and keeps its tasks in the store, as if the process had ended.
    package func leaveTransfers() {
        core.background.session?.leave()
        invalidateAndCancel()
    }

    /// Creates the task for a stored transfer.
    func restore(_ transfer: BackgroundTransfer) {
        let record = transfer.record
        let request = URLRequest(values: record.request.values)
        var plan = TaskPlan()
        plan.transfer = transfer
        if let path = record.uploadPath {
            plan.source = .file(URL(fileURLWithPath: path))
        } else {
            plan.outlet = .file(nil)
        }
        let taskCore = TaskCore(identifier: record.identifier, session: self, request: request, plan: plan)
        taskCore.state.withLock { state in
            state.options.priority = record.options.priority
            state.options.description = record.options.description
            state.options.earliestBeginDate = record.options.earliestBegin.map { Date(timeIntervalSince1970: $0) }
            state.options.clientExpectsToSend = record.options.clientExpectsToSend
            state.options.clientExpectsToReceive = record.options.clientExpectsToReceive
            if case .resume(let offset) = transfer.recovery { state.counts.received = offset }
        }
        let task = transfer.isUpload ? URLSessionUploadTask(core: taskCore) : URLSessionDownloadTask(core: taskCore)
        guard core.addContinuing(task) else { return }
        if record.stage == .finished { return taskCore.deliverStored(transfer) }
        if !record.isSuspended { task.resume() }
    }
}

extension SessionCore {
    /// Prepares the plan of a new task. Traps if background sessions do not permit such a task. If the session's tasks
    /// outlive the process, this method stores the task.
    func planned(_ plan: TaskPlan, _ identifier: Int, _ request: URLRequest?) -> TaskPlan {
        Self.check(plan)
        switch background {
        case .foreground, .memory: return plan
        case .stored(let session): return session.planned(plan, identifier, request)
        case .unusable(let reason):
            var plan = plan
            plan.failure = plan.failure ?? LoadFailure(.fileNotCreated, details: [LoadFailure.reasonKey: reason])
            return plan
        }
    }

    /// Calls a closure after the stored tasks have been restored.
    func afterRestoring(_ body: @escaping @Sendable () -> Void) {
        if let session = background.session { session.afterRestoring(body) } else { body() }
    }

    /// Returns the request in the form in which the session may send it. If the session is discretionary, the request
    /// may not use expensive or constrained networks. Otherwise the request is unchanged.
    func favorable(_ request: URLRequest) -> URLRequest {
        guard settings.access.isDiscretionary else { return request }
        var request = request
        request.change { $0.options.subtract([.allowsExpensiveAccess, .allowsConstrainedAccess]) }
        return request
    }

    /// Traps if the task has a completion handler, or if its content is not in a file.
    ///
    /// Handlers and content in memory are lost when the process ends. Apple's platforms throw an exception instead.
    private static func check(_ plan: TaskPlan) {
        guard plan.failure == nil else { return }
        switch plan.outlet {
        case .handler, .file(_?):
            Misuse.stop("Completion handlers are not supported in background sessions. Use a delegate instead.")
        case .delegate, .file(nil), .bytes, .webSocket, .stream: break
        }
        switch plan.source {
        case .data, .form, .stream:
            Misuse.stop("Background sessions upload only files. Use uploadTask(with:fromFile:).")
        case .request, .file: break
        }
    }

    /// Notifies the delegate after all stored results have been delivered.
    func reportFinishedEvents(_ session: URLSession) {
        guard let delegate = delegate?.session else { return }
        CallList(callPlace).add {
            _ = DelegateProbe.call(delegate, .finishedBackgroundEvents) {
                delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
            }
        }
    }
}
