import CausewayTypes
import CausewayURLLoading

/// Continues the transfers of all programs that are not running.
struct TransfersRun {
    typealias Session = BackgroundTransfers.Session
    /// For each session path, the tasks that were pending when the session's latest run started. While the pending
    /// tasks stay the same, only the session's program can continue them.
    typealias Left = [String: [Int]]

    /// The condition that ends a run. A run that ends while transfers cannot be read fails.
    enum Limit {
        /// Ends the run as soon as no transfer can continue.
        case nothingToDo
        /// No transfer can run, and no other process uses a session that `nw transfers` could continue after that
        /// process has exited. The run waits for transfers that cannot be read, for a limited time.
        case idleness
        /// The task is cancelled.
        case interruption
    }

    /// The interval between checks for new transfers.
    private static let interval = Duration.seconds(2)
    /// How long the process that programs start waits for transfers that cannot be read.
    static let patience = Duration.seconds(60)

    private let transfers: BackgroundTransfers
    private let limit: Limit
    private let patience: Duration
    private let choose: @Sendable (BackgroundTransfers) -> [Session]

    init(
        _ transfers: BackgroundTransfers, until limit: Limit, patience: Duration = Self.patience,
        _ choose: @escaping @Sendable (BackgroundTransfers) -> [Session]
    ) {
        self.transfers = transfers
        self.limit = limit
        self.patience = patience
        self.choose = choose
    }

    // MARK: The process that programs start

    /// Continues the transfers of all programs until none can run. Returns immediately if another process does this.
    ///
    /// - Throws: ``CommandFailure`` if transfers cannot be read for the time `patience`.
    static func untilIdle(_ transfers: BackgroundTransfers, patience: Duration = TransfersRun.patience) async throws {
        let run = TransfersRun(transfers, until: .idleness, patience: patience) { $0.sessions(isBrief: true) }
        var left: Left = [:]
        while !Task.isCancelled, let after = try await run.asAgent(left) {
            left = after
            // Check for new transfers again. Another program may have started a transfer while this process held the
            // lock. That program did not start another process to continue the transfer.
            guard transfers.sessions(isBrief: true).contains(where: { isExpected($0) || isDue($0, left) }) else {
                return
            }
        }
    }

    /// Continues transfers while this process holds the agent's lock. The agent is the process that programs start to
    /// continue their transfers. Returns `nil` if another process holds the lock.
    private func asAgent(_ left: Left) async throws -> Left? {
        switch transfers.claimAgent() {
        case .refused: return nil
        case .unusable(let reason):
            throw CommandFailure(
                "cannot use the lock of this process: \(reason): make this user the owner, with mode 700")
        case .taken(let lock):
            let after = try await run(left)
            return withExtendedLifetime(lock) { after }
        }
    }

    // MARK: Running

    /// Returns whether a session has transfers that can run.
    private static func isDue(_ session: Session, _ left: Left) -> Bool {
        session.activity == nil && session.isComplete && !session.pending.isEmpty
            && left[session.path] != session.pending
    }

    /// Returns whether the session may soon have transfers that `nw` can run. There are two cases. Another process uses
    /// the session now, and may exit before its transfers are complete. Or the transfers cannot be read now.
    private static func isExpected(_ session: Session) -> Bool {
        session.activity != nil && session.isComplete || !session.isReadable
    }

    /// Returns whether the run goes on although no transfer is running.
    ///
    /// - Parameters:
    ///   - sessions: The sessions that are not running.
    ///   - isPatient: Whether to wait for sessions that cannot be read now.
    private func waits(for sessions: [Session], isPatient: Bool) -> Bool {
        switch limit {
        case .nothingToDo: false
        case .interruption: true
        case .idleness: sessions.contains { Self.isExpected($0) && (isPatient || $0.isReadable) }
        }
    }

    /// Starts the sessions that have transfers that can run.
    private func start(
        _ sessions: [Session], _ left: inout Left, _ running: inout Set<String>, in group: inout TaskGroup<End>
    ) {
        for session in sessions {
            if session.activity != nil { left[session.path] = nil }
            guard Self.isDue(session, left) else { continue }
            left[session.path] = session.pending
            running.insert(session.path)
            group.addTask { await run(session) }
        }
    }

    /// Continues transfers until the limit is reached or the task is cancelled.
    ///
    /// - Parameter left: For each session that earlier runs have tried, the tasks that were pending.
    /// - Returns: The argument, updated for the sessions of this run.
    /// - Throws: ``CommandFailure`` if the limit is reached while transfers cannot be read.
    func run(_ left: Left = [:]) async throws -> Left {
        var left = left
        var problem: String?
        await withTaskGroup(of: End.self) { group in
            var running: Set<String> = []
            var isTicking = false
            var wait = UnreadableWait(limit: patience)
            let began = ContinuousClock.now
            while !Task.isCancelled {
                let others = choose(transfers).filter { !running.contains($0.path) }
                start(others, &left, &running, in: &group)
                problem = others.lazy.compactMap(\.problem).first
                let isOver = wait.isOver(isUnreadable: problem != nil, at: ContinuousClock.now - began)
                guard waits(for: others, isPatient: !isOver) || !running.isEmpty else { return group.cancelAll() }
                if !isTicking {
                    isTicking = true
                    group.addTask {
                        try? await Task.sleep(for: Self.interval)
                        return .interval
                    }
                }
                switch await group.next() {
                case .interval?: isTicking = false
                case .session(let path, let isCompleted)?:
                    running.remove(path)
                    // The run stopped because another process was using the session, for example the program that
                    // created the session. That process may have exited since then. So let the session's transfers run
                    // again.
                    if !isCompleted { left[path] = nil }
                case nil: return
                }
            }
        }
        if let problem, !Task.isCancelled {
            throw CommandFailure("\(problem): make this user its owner, with mode 700, or try again later")
        }
        return left
    }

    private enum End: Sendable {
        case interval
        /// The work on a session has ended. If `isCompleted` is true, tasks may remain. Only the program that created
        /// the session can continue them.
        case session(path: String, isCompleted: Bool)
    }

    private func run(_ session: Session) async -> End {
        let name: PrintableText = "\(session.program) \(session.identifier)"
        printLine("\(name): continues, \(session.pending.count) to transfer")
        switch await transfers.run(session) {
        case .completed(let finished, let left):
            printLine("\(name): \(finished) finished, \(left) left to the program")
            return .session(path: session.path, isCompleted: true)
        case .handedOver: printLine("\(name): the program is back")
        case .busy: printLine("\(name): in use, or unreadable")
        }
        return .session(path: session.path, isCompleted: false)
    }
}
