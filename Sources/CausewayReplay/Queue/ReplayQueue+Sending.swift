extension ReplayQueue {
    /// Records the date, and advances the time.
    package mutating func advance(to now: ReplayTime) -> [ReplayEffect] {
        noteDate(of: now)
        return advance(to: now.uptime)
    }

    /// Ends operations that are too old, and begins those that may be sent. The date is computed from the last recorded
    /// date and the uptime.
    package mutating func advance(to now: Duration) -> [ReplayEffect] {
        var effects: [ReplayEffect] = []
        if let date = date(at: now) { effects = expire(at: date) }
        // Begin with the oldest operation, so that a busy lane does not delay the other lanes.
        for id in lanes.values.compactMap(\.first).sorted() where active.count < max(limits.activeLanes, 1) {
            guard let entry = entries[id], entry.phase == .waiting, permission(entry).isGranted(at: now) else {
                continue
            }
            backoff.began(id)
            active.insert(id)
            entries[id]?.phase = .sending
            entries[id]?.wasTried = true
            entries[id]?.notBefore = nil
            entries[id]?.operation.progress.isBegun = true
            effects += [.store(.began(id)), .begin(id)]
        }
        return effects
    }

    /// The uptime at which to call ``advance(to:)``; `nil` if only an event can begin or end an operation.
    package var deadline: Duration? {
        var deadline: Duration?
        func note(_ time: Duration) { deadline = min(deadline ?? time, time) }
        if let dateOffset, nextExpiry != .max { note(.milliseconds(nextExpiry) - dateOffset) }
        guard active.count < max(limits.activeLanes, 1) else { return deadline }
        for id in lanes.values.compactMap(\.first) {
            guard let entry = entries[id], entry.phase == .waiting else { continue }
            if case .at(let time) = permission(entry) { note(time) }
        }
        return deadline
    }

    /// Returns when an operation at the head of its lane may be sent.
    private func permission(_ entry: Entry) -> SharedBackoff.Permission {
        let shared = backoff.permission(wasTried: entry.wasTried)
        guard let own = entry.notBefore else { return shared }
        return switch shared {
        case .now: .at(own)
        case .at(let time): .at(max(time, own))
        case .afterProbe: .afterProbe
        }
    }

    private func date(at uptime: Duration) -> Int64? {
        guard let dateOffset else { return nil }
        let (seconds, attoseconds) = (uptime + dateOffset).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    mutating func noteDate(of now: ReplayTime) { dateOffset = .milliseconds(now.date) - now.uptime }

    /// Reports a change of the network state.
    package mutating func networkChanged(isReachable: Bool, at now: ReplayTime) {
        backoff.networkChanged(isReachable: isReachable, at: now.uptime)
    }

    /// Reports that an attempt has ended.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - end: How the attempt ended.
    ///   - now: The current time.
    ///   - jitter: The random part of a wait, from 0 to 1.
    package mutating func attemptEnded(
        _ id: UInt64, _ end: AttemptEnd, at now: ReplayTime, jitter: Double
    ) -> [ReplayEffect] {
        guard let entry = entries[id], entry.phase == .sending else { return [] }
        active.remove(id)
        noteAttempt(id, end, now, jitter)
        switch end {
        case .noWay:
            entries[id]?.phase = .waiting
            entries[id]?.operation.progress.isBegun = false
            return [.store(.returned(id, counts: false))]
        case .notStored:
            return wait(id, counts: false, at: now, jitter: jitter)
        case .invalid(let reason): return finish(id, .invalid(reason), at: now.date)
        case .response(let status, let retryAfter):
            return responded(id, status, retryAfter, entry.operation, now, jitter)
        case .lost, .interrupted:
            entries[id]?.operation.progress.count()
            return resolveUnknown(id, at: now, jitter: jitter)
        }
    }

    private mutating func noteAttempt(_ id: UInt64, _ end: AttemptEnd, _ now: ReplayTime, _ jitter: Double) {
        switch end {
        case .noWay: backoff.failed(id, at: now.uptime, policy.backoff, jitter: jitter)
        case .response: backoff.succeeded()
        case .lost, .invalid, .notStored, .interrupted: backoff.abandoned(id)
        }
    }

    private mutating func responded(
        _ id: UInt64, _ status: Int, _ retryAfter: Duration?, _ operation: StoredOperation, _ now: ReplayTime,
        _ jitter: Double
    ) -> [ReplayEffect] {
        entries[id]?.operation.progress.count()
        switch status {
        case ..<400: return finish(id, .succeeded(status: status), at: now.date)
        case 409, 412: return refused(id, status, policy.conflict, .conflicted(status: status), now.date)
        case 401, 407, 511: return stop(id, .refused(status: status))
        // These statuses mean that the server has not processed the request.
        case 408, 425, 429, 503:
            return wait(id, counts: true, at: now, jitter: jitter, atLeast: retryAfter, isCounted: true)
        case 502, 504...: return resolveUnknown(id, at: now, jitter: jitter, atLeast: retryAfter)
        default:
            if status >= 500, isReplayable(operation) {
                return wait(id, counts: true, at: now, jitter: jitter, atLeast: retryAfter, isCounted: true)
            }
            return refused(id, status, policy.rejection, .rejected(status: status), now.date)
        }
    }

    /// Whether sending an operation twice has the same effect as sending it once.
    func isReplayable(_ operation: StoredOperation) -> Bool {
        policy.serverHonorsKeys || operation.rules.isIdempotent
    }

    private mutating func refused(
        _ id: UInt64, _ status: Int, _ treatment: OfflinePolicy.Refusal, _ outcome: OfflineOutcome, _ date: Int64
    ) -> [ReplayEffect] {
        switch treatment {
        case .drop: return finish(id, outcome, at: date)
        case .stop: return stop(id, .refused(status: status))
        case .ask:
            entries[id]?.phase = .asking
            entries[id]?.operation.progress.isBegun = false
            // The lane stays active until the resolver answers. This also limits the number of pending questions.
            active.insert(id)
            return [.store(.returned(id, counts: true)), .ask(id, status: status)]
        }
    }

    /// Applies ``OfflinePolicy/unknownFate`` after an attempt without a clear result.
    private mutating func resolveUnknown(
        _ id: UInt64, at now: ReplayTime, jitter: Double, atLeast minimum: Duration? = nil
    ) -> [ReplayEffect] {
        guard let operation = entries[id]?.operation else { return [] }
        switch policy.unknownFate {
        case .replayIfIdempotent where !isReplayable(operation), .report: return finish(id, .unknown, at: now.date)
        case .stop: return stop(id, .unknownFate)
        case .replay, .replayIfIdempotent:
            return wait(id, counts: true, at: now, jitter: jitter, atLeast: minimum, isCounted: true)
        }
    }

    /// Returns an operation to its lane, to be sent again after a back-off. Ends it at its maximum number of attempts.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - counts: Whether the attempt may have reached the server.
    ///   - now: The current time.
    ///   - jitter: The random part of the wait, from 0 to 1.
    ///   - minimum: The minimum wait from `Retry-After`; more than a day counts as a day.
    ///   - isCounted: Whether the attempt was already counted.
    mutating func wait(
        _ id: UInt64, counts: Bool, at now: ReplayTime, jitter: Double, atLeast minimum: Duration? = nil,
        isCounted: Bool = false
    ) -> [ReplayEffect] {
        guard var entry = entries[id] else { return [] }
        if counts, !isCounted { entry.operation.progress.count() }
        if counts, entry.operation.progress.attempts >= entry.operation.rules.maximumAttempts {
            return finish(id, .expired(.attempts), at: now.date)
        }
        entry.failures = min(entry.failures + 1, 64)
        let demanded = min(max(minimum ?? .zero, .zero), .seconds(86_400))
        entry.notBefore = now.uptime + max(policy.backoff.wait(after: entry.failures, jitter: jitter), demanded)
        entry.phase = .waiting
        entry.operation.progress.isBegun = false
        entries[id] = entry
        return [.store(.returned(id, counts: counts))]
    }

    /// Stops the operation's lane.
    mutating func stop(_ id: UInt64, _ reason: OfflineStop) -> [ReplayEffect] {
        active.remove(id)
        entries[id]?.phase = .stopped(reason)
        entries[id]?.operation.progress.isBegun = false
        entries[id]?.operation.progress.stop = reason
        return [.store(.stopped(id, reason))]
    }

    /// Ends an operation. Its report is kept, except for a success without ``StoredOperation/Rules/reportsSuccess``.
    mutating func finish(_ id: UInt64, _ outcome: OfflineOutcome, at date: Int64) -> [ReplayEffect] {
        guard let operation = entries[id]?.operation else { return [] }
        remove(id)
        let report = StoredReport(operation, outcome, at: date)
        let isKept = !outcome.isSuccess || operation.rules.reportsSuccess
        if isKept { keep(report) }
        return [.store(.ended(report, isKept: isKept)), .release(operation.message.body), .finish(report)]
    }

    mutating func keep(_ report: StoredReport) {
        kept.append(report)
        if kept.count > max(limits.reports, 1) { kept.removeFirst(kept.count - max(limits.reports, 1)) }
    }

    /// Ends operations that are too old, and computes ``nextExpiry``.
    private mutating func expire(at date: Int64) -> [ReplayEffect] {
        guard date >= nextExpiry else { return [] }
        var effects: [ReplayEffect] = []
        nextExpiry = .max
        for (id, entry) in entries.sorted(by: { $0.key < $1.key }) {
            guard let end = Self.expiry(of: entry.operation) else { continue }
            switch entry.phase {
            case .waiting, .stopped:
                if end <= date {
                    effects += finish(id, .expired(.age), at: date)
                } else {
                    nextExpiry = min(nextExpiry, end)
                }
            // An attempt is not interrupted: check once a second until it has ended.
            case .storing, .sending, .asking: nextExpiry = min(nextExpiry, max(end, date + 1_000))
            }
        }
        return effects
    }
}
