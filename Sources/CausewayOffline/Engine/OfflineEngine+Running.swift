internal import CausewayClient
internal import CausewaySystem
internal import Foundation

extension OfflineEngine {
    /// How long to wait before a failed write is retried.
    private static let storageRetryWait = Duration.seconds(5)

    /// Sends operations until the task is cancelled.
    ///
    /// Operations queued meanwhile are sent as well. A first attempt never waits for reachability. When the network
    /// comes back, a back-off ends.
    ///
    /// Cancellation: cancels running attempts, and returns when their ends are stored. The server may or may not have
    /// processed a cancelled attempt, see ``/CausewayHTTPProtocols/OfflinePolicy/UnknownFate``.
    ///
    /// - Throws: ``OfflineError`` with the code `running` if the engine is already running.
    public func run() async throws(OfflineError) {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { throw OfflineError(.running, "run() was called and has not returned") }
        defer { state.withLock { $0.isRunning = false } }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followNetwork() }
            while !Task.isCancelled {
                await settleAgain()
                let applied = apply { (queue, now) in queue.advance(to: now) }
                for id in applied.begins {
                    let number = applied.number
                    group.addTask { await self.attempt(id, after: number) }
                }
                if !applied.finished.isEmpty { await settleOrKeep(applied) }
                await signal.wait(until: deadline(), clocks)
            }
            group.cancelAll()
        }
    }

    private func deadline() -> Duration? {
        let (deadline, isUnsettled) = state.withLock { state in (state.queue.deadline, !state.unsettled.isEmpty) }
        guard isUnsettled || writer.failure != nil else { return deadline }
        let again = clocks.uptime() + Self.storageRetryWait
        return min(deadline ?? again, again)
    }

    private func followNetwork() async {
        for await reachability in client.reachabilityUpdates {
            let now = clocks.now
            state.withLock { $0.queue.networkChanged(isReachable: reachability.isReachable, at: now) }
            signal.raise()
        }
    }

    // MARK: One attempt

    /// Sends an operation, and applies the result. The operation is sent only after the journal has stored the record
    /// `began`.
    private func attempt(_ id: UInt64, after number: JournalWriter.Number) async {
        let interrupt = Signal()
        let operation = state.withLock { state in
            state.interrupts[id] = interrupt
            return state.queue.operation(id)
        }
        defer {
            state.withLock { state in
                // The operation may already be sent again by another attempt, which has its own signal.
                if state.interrupts[id] === interrupt { state.interrupts[id] = nil }
            }
            signal.raise()
        }
        guard let operation else { return }
        var end = AttemptEnd.notSent
        do throws(SystemError) {
            try await writer.wait(for: number)
            // The program may have cancelled the operation during the wait. A cancelled operation is not sent.
            guard state.withLock({ $0.queue.phase(id) }) == .sending else { return }
            if !Task.isCancelled { end = await send(operation, interrupt) }
        } catch {
            let event = OfflineEvent(id: OfflineOperation.ID(id), kind: .storageFailed(JournalDirectory.text(error)))
            broadcast.send { event }
        }
        let jitter = Double.random(in: 0...1)
        let applied = apply { (queue, now) in queue.attemptEnded(id, end, at: now, jitter: jitter) }
        await settleOrKeep(applied)
        for (id, status) in applied.asks { await resolve(id, status, operation) }
    }

    /// Sends an operation until the attempt ends or ``cancel(_:)`` interrupts it.
    private func send(_ operation: StoredOperation, _ interrupt: Signal) async -> AttemptEnd {
        await withTaskGroup(of: AttemptEnd?.self) { group in
            group.addTask { await self.send(operation) }
            group.addTask {
                await interrupt.wait()
                return nil
            }
            var end = AttemptEnd.interrupted
            // A response that arrives although the attempt was interrupted counts: without it, the operation would be
            // sent again.
            for await result in group {
                if let result { end = result }
                group.cancelAll()
            }
            return end
        }
    }

    private func send(_ operation: StoredOperation) async -> AttemptEnd {
        let request: ClientRequest
        switch await self.request(for: operation) {
        case .request(let made): request = made
        case .end(let end): return end
        }
        let progress = state.withLock { $0.progress[operation.id] }
        do {
            let response = try await client.send(
                request, as: .data.accepting(statuses: 100..<1_000), progress: progress)
            keep(response, operation)
            return .response(status: response.status, retryAfter: HTTPClient.retryAfter(of: response.http))
        } catch {
            return AttemptEnd(error)
        }
    }

    /// Stores an operation's latest response in memory for ``result(of:)`` and for the program's resolver. The content
    /// of an error response is cut to the client's `maximumErrorContentLength`.
    private func keep(_ response: ClientResponse<Data>, _ operation: StoredOperation) {
        let kept = response.value.prefix(client.configuration.maximumErrorContentLength)
        let content = response.status < 400 ? response.value : Data(kept)
        let conflict = OfflineConflict(
            operation: OfflineOperation(operation, .asking), response: response.http, content: content)
        state.withLock { $0.responses[operation.id] = conflict }
    }

    /// Asks the program's resolver about a refused operation, and applies its decision.
    private func resolve(_ id: UInt64, _ status: Int, _ operation: StoredOperation) async {
        let decision = await self.decision(id)
        let jitter = Double.random(in: 0...1)
        var isFull = false
        let applied = apply { (queue, now) throws(Never) in
            let effects = queue.resolved(id, decision, status: status, at: now, jitter: jitter)
            // The resolver has returned a new request, but the operation is stopped. The reason is that the request
            // exceeds a limit.
            if case .rewrite = decision, case .stopped = queue.phase(id) { isFull = true }
            return effects
        }
        if isFull {
            let limit = configuration.limits.totalByteCount
            let error = OfflineError(.full, "the contents of the queue have \(limit) bytes: see OfflineLimits")
            broadcast.send { OfflineEvent(id: OfflineOperation.ID(id), kind: .storageFailed(error.description)) }
        }
        await settleOrKeep(applied)
    }

    private func decision(_ id: UInt64) async -> OfflineDecision<StoredRewrite> {
        guard let resolver = configuration.resolver, let conflict = state.withLock({ $0.responses[id] }) else {
            return .stop
        }
        switch await resolver(conflict) {
        case .drop: return .drop
        case .stop: return .stop
        case .retry: return .retry
        case .rewrite(let request):
            do throws(OfflineError) {
                let message = try await store(freeze(request), request.body, .copy)
                return .rewrite(StoredRewrite(message: message, key: Self.newKey()))
            } catch {
                let event = OfflineEvent(id: OfflineOperation.ID(id), kind: .storageFailed(error.description))
                broadcast.send { event }
                return .stop
            }
        }
    }

    // MARK: Storing the ends of operations

    /// Waits until a change is stored, then completes it.
    ///
    /// If the change cannot be stored, reports the failure and keeps the change for ``settleAgain()``.
    private func settleOrKeep(_ applied: Applied) async {
        do throws(OfflineError) {
            try await settle(applied)
        } catch {
            state.withLock { $0.unsettled.append(applied) }
            let ids = applied.finished.map { OfflineOperation.ID($0.id) }
            for id in ids { broadcast.send { OfflineEvent(id: id, kind: .storageFailed(error.message)) } }
        }
    }

    /// Retries changes that could not be stored.
    private func settleAgain() async {
        let unsettled = state.withLock { state in
            defer { state.unsettled = [] }
            return state.unsettled
        }
        for applied in unsettled { await settleOrKeep(applied) }
    }
}
