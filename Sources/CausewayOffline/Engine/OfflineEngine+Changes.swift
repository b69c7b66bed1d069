public import CausewayClient
internal import CausewaySystem
internal import Foundation

extension OfflineEngine {
    /// The methods of requests that can be queued. GET is not included, because its caller needs the response at once.
    private static let methods: Set<String> = ["POST", "PUT", "PATCH", "DELETE"]

    /// Queues an operation. When the call returns, the operation is stored durably, and survives the program's end and
    /// a power failure.
    ///
    /// The client's tokens and header fields are added when the operation is sent; they are not stored. The operation
    /// is sent with an `Idempotency-Key` field, by which the server can recognize a repetition.
    ///
    /// Cancellation: has no effect.
    ///
    /// - Parameters:
    ///   - request: A POST, PUT, PATCH or DELETE request.
    ///   - options: The operation's rules.
    ///   - progress: Called with the upload progress when this process sends the operation. A later process does not
    ///     call it. `nil` for no calls.
    /// - Returns: The operation's identifier.
    /// - Throws: ``OfflineError`` with the codes `invalidRequest`, `full` and `storage`. If the call throws, the
    ///   operation is not queued.
    @discardableResult
    public func enqueue(
        _ request: ClientRequest, options: OfflineOptions = OfflineOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(OfflineError) -> OfflineOperation.ID {
        let frozen = try freeze(request)
        let message = try await store(frozen, request.body, options.fileHandling)
        let rules = rules(frozen, options)
        let key = Self.newKey()
        var id: UInt64 = 0
        do {
            let applied = try apply { (queue, now) throws(ReplayRefusal) in
                let joined = try queue.enqueue { id in
                    StoredOperation(
                        id: id, lane: options.lane, message: message, key: key, created: now.date, rules: rules)
                }
                id = joined.id
                return joined.effects
            }
            try await settle(applied)
        } catch {
            state.withLock { state in state.queue.notStored(id) }
            await remove(message.body)
            changes.changed { operations }
            throw error as? OfflineError ?? Self.error(error as? ReplayRefusal)
        }
        state.withLock { state in
            state.queue.stored(id)
            state.progress[id] = progress
        }
        broadcast.send { OfflineEvent(id: OfflineOperation.ID(id), kind: .queued) }
        signal.raise()
        return OfflineOperation.ID(id)
    }

    /// Cancels an operation. If it is being sent, the attempt is cancelled, but the server may have processed the
    /// operation.
    ///
    /// - Throws: ``OfflineError`` with the codes `unknownOperation` and `storage`. If the code is `storage`, the
    ///   operation may be cancelled nevertheless; the engine then stores the cancellation later.
    public func cancel(_ id: OfflineOperation.ID) async throws(OfflineError) {
        try await change { (queue, now) throws(ReplayRefusal) in try queue.cancel(id.number, at: now.date) }
    }

    /// Replaces the request of an operation that is not being sent. The operation keeps its position and gets a new
    /// key. If the operation had stopped its lane, which is a sequence of operations that are sent one after the other,
    /// the lane continues.
    ///
    /// - Throws: ``OfflineError`` with the codes `unknownOperation`, `busy`, `invalidRequest`, `full` and `storage`.
    public func edit(
        _ id: OfflineOperation.ID, _ request: ClientRequest,
        fileHandling: OfflineOptions.FileHandling = .copy
    ) async throws(OfflineError) {
        let message = try await store(freeze(request), request.body, fileHandling)
        let key = Self.newKey()
        // Keep the request's content if the queue has accepted the new request, even if this call throws. The record of
        // the change refers to this content and is stored later.
        var isTaken = false
        do throws(OfflineError) {
            try await change { (queue, _) throws(ReplayRefusal) in
                let effects = try queue.edit(id.number, message, key: key)
                isTaken = true
                return effects
            }
        } catch {
            if !isTaken { await remove(message.body) }
            throw error
        }
    }

    /// Moves an operation within its lane, which is a sequence of operations that are sent one after the other. Its new
    /// place is before the operation `other`, or at the lane's end. Neither operation may be in the process of being
    /// sent, or wait for the resolver's decision.
    ///
    /// - Throws: ``OfflineError`` with the codes `unknownOperation`, `busy`, `otherLane` and `storage`.
    public func move(_ id: OfflineOperation.ID, before other: OfflineOperation.ID?) async throws(OfflineError) {
        try await change { (queue, _) throws(ReplayRefusal) in try queue.move(id.number, before: other?.number) }
    }

    /// Continues a lane (operations that are sent one after the other) that has stopped at an operation. The operation
    /// is sent again with the same key.
    ///
    /// - Throws: ``OfflineError`` with the codes `unknownOperation`, `busy` and `storage`.
    public func resume(_ id: OfflineOperation.ID) async throws(OfflineError) {
        try await change { (queue, _) throws(ReplayRefusal) in try queue.resume(id.number) }
    }

    /// Removes the report of an ended operation after the program has processed the report. If the operation has no
    /// report, the call has no effect.
    ///
    /// - Throws: ``OfflineError`` with the code `storage`.
    public func acknowledge(_ id: OfflineOperation.ID) async throws(OfflineError) {
        try await change { (queue, _) throws(ReplayRefusal) in queue.acknowledge(id.number) }
    }

    /// Suspends until an operation has ended.
    ///
    /// Cancellation: throws `CancellationError`; the operation stays in the queue.
    ///
    /// - Throws: ``OfflineError`` with the code `unknownOperation` if there is no such operation, or its result is no longer kept.
    public func result(of id: OfflineOperation.ID) async throws -> OfflineResult {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<OfflineResult?, Never>) in
                let known = state.withLock { state -> OfflineResult?? in
                    if Task.isCancelled { return .some(nil) }
                    if let known = state.known(id.number) { return known }
                    let isPending = state.queue.operation(id.number) != nil || state.settling.contains(id.number)
                    guard isPending else { return .some(nil) }
                    state.waiters[id.number, default: [:]][waiter] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiters[id.number]?.removeValue(forKey: waiter) }
            continuation?.resume(returning: nil)
        }
        if let result { return result }
        try Task.checkCancellation()
        throw OfflineError(.unknownOperation, "no operation \(id), or its end is not kept")
    }

    // MARK: Parts

    private func change(
        _ body: (inout ReplayQueue, ReplayTime) throws(ReplayRefusal) -> [ReplayEffect]
    ) async throws(OfflineError) {
        if writer.failure != nil {
            // While writing to storage fails, refuse changes. Otherwise the list of unstored records would grow without
            // limit.
            do throws(SystemError) { try await writer.retry() } catch { throw Self.storageError(error) }
        }
        let applied: Applied
        do throws(ReplayRefusal) {
            applied = try apply(body)
        } catch {
            throw Self.error(error)
        }
        signal.raise()
        do throws(OfflineError) {
            try await settle(applied)
        } catch {
            state.withLock { $0.unsettled.append(applied) }
            throw error
        }
    }

    /// Converts a request to values that can be stored.
    func freeze(_ request: ClientRequest) throws(OfflineError) -> FrozenRequest {
        guard Self.methods.contains(request.method) else {
            throw OfflineError(
                .invalidRequest, "\(request.method) cannot be queued: expected POST, PUT, PATCH or DELETE")
        }
        do throws(HTTPClientError) {
            return try client.frozen(request)
        } catch {
            throw OfflineError(.invalidRequest, error.message)
        }
    }

    private func rules(_ frozen: FrozenRequest, _ options: OfflineOptions) -> StoredOperation.Rules {
        let expiry = configuration.policy.expiry
        let age = (options.maximumAge ?? expiry.maximumAge).map { max($0 / .milliseconds(1), 1) } ?? 0
        return StoredOperation.Rules(
            maximumAge: Int64(min(age, 1e15)),
            maximumAttempts: UInt32(clamping: max(options.maximumAttempts ?? expiry.maximumAttempts, 1)),
            isIdempotent: frozen.isIdempotent, reportsSuccess: options.reportsSuccess)
    }

    static func newKey() -> String { UUID().uuidString.lowercased() }

    private static func error(_ refusal: ReplayRefusal?) -> OfflineError {
        switch refusal {
        case .unknown, nil: OfflineError(.unknownOperation, "no such operation waits")
        case .busy: OfflineError(.busy, "the operation is in a state in which this is not possible")
        case .otherLane: OfflineError(.otherLane, "the operations are in different lanes")
        case .full(let limit): OfflineError(.full, "\(limit): see OfflineLimits")
        }
    }
}

extension OfflineEngine.State {
    /// Returns the result of an ended operation; `nil` if no result is known. If the result is no longer in memory, it
    /// is made from the operation's report. The report does not contain the response.
    func known(_ id: UInt64) -> OfflineResult? {
        if let result = results[id] { return result }
        guard !settling.contains(id) else { return nil }
        return queue.reports.first { $0.id == id }
            .map { OfflineResult(outcome: $0.outcome, response: nil, content: .init()) }
    }
}
