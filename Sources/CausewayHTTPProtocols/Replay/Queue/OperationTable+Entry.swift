extension OperationTable {
    /// An operation and its state in this process.
    struct Entry: Sendable {
        private(set) var operation: StoredOperation
        private(set) var phase: ReplayQueue.Phase
        /// Whether this process has already made an attempt to send the operation.
        private(set) var wasTried = false
        /// The earliest uptime for the next attempt, after a failure.
        private(set) var notBefore: Duration?
        /// The number of failed attempts that caused a back-off, which is a wait before the next attempt. This number
        /// determines the length of the next back-off.
        private var failures = 0

        init(_ operation: StoredOperation, _ phase: ReplayQueue.Phase) {
            self.operation = operation
            self.phase = phase
        }

        /// The date at which the operation becomes too old; `nil` if there is no limit.
        var expiry: Int64? {
            let age = operation.rules.maximumAge
            guard age > 0 else { return nil }
            let (date, isBeyond) = operation.created.addingReportingOverflow(age)
            return isBeyond ? nil : date
        }

        // MARK: Attempts

        mutating func stored() { if phase == .storing { phase = .waiting } }

        mutating func began() {
            phase = .sending
            wasTried = true
            notBefore = nil
            operation.progress.isBegun = true
        }

        /// Increments the count of attempts that may have reached the server.
        mutating func counted() { operation.progress.count() }

        /// Records that the operation waits for the decision of the program's callback for refused operations.
        mutating func asked() {
            phase = .asking
            operation.progress.isBegun = false
        }

        /// Makes the operation wait for its next attempt. The wait has no back-off.
        mutating func returned() {
            phase = .waiting
            operation.progress.isBegun = false
        }

        /// Makes the operation wait for a back-off time. Afterwards the operation is sent again.
        ///
        /// - Parameters:
        ///   - uptime: The current time.
        ///   - backoff: The rules for the wait.
        ///   - jitter: The random part of the wait, from 0 to 1.
        ///   - minimum: The minimum wait, from `Retry-After`. A value above one day counts as one day.
        mutating func failed(
            at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double, atLeast minimum: Duration?
        ) {
            failures = min(failures + 1, 64)
            let demanded = min(max(minimum ?? .zero, .zero), .seconds(86_400))
            notBefore = uptime + max(backoff.wait(after: failures, jitter: jitter), demanded)
            returned()
        }

        mutating func stopped(_ reason: OfflineStop) {
            phase = .stopped(reason)
            operation.progress.isBegun = false
            operation.progress.stop = reason
        }

        // MARK: Changes by the program

        mutating func resumed() {
            phase = .waiting
            operation.progress.stop = nil
        }

        /// Replaces the operation's request and its `Idempotency-Key`. For the server, this is a new operation, so
        /// earlier attempts and failures no longer count.
        mutating func replaced(_ message: StoredMessage, key: String) {
            phase = .waiting
            operation.message = message
            operation.key = key
            operation.progress = StoredOperation.Progress()
            notBefore = nil
            failures = 0
        }

        // MARK: Recovery

        /// Applies a journal record about the operation.
        mutating func apply(_ record: JournalRecord) {
            switch record {
            case .edited(let new): operation = new
            case .began: operation.progress.isBegun = true
            case .returned(_, let counts):
                operation.progress.isBegun = false
                if counts { operation.progress.count() }
            case .stopped(_, let reason):
                if operation.progress.isBegun { operation.progress.count() }
                operation.progress.isBegun = false
                operation.progress.stop = reason
            case .resumed: operation.progress.stop = nil
            case .header, .enqueued, .ended, .acknowledged, .moved: break
            }
        }

        /// Ends the recovery after a restart. If sending had stopped at this operation before the restart, it stops
        /// there again.
        mutating func recovered() {
            if let stop = operation.progress.stop { phase = .stopped(stop) }
        }
    }
}
