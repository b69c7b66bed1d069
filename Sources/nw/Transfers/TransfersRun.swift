import CausewayTypes
import CausewayURLLoading

/// Continues the transfers of all programs that are not running.
struct TransfersRun {
    typealias Session = BackgroundTransfers.Session
    /// The tasks that were pending when a session's latest run began, by session path. While these tasks are the same,
    /// only the session's program can continue them.
    typealias Left = [String: [Int]]

    /// The condition that ends a run.
    enum Limit {
        /// The run ends as soon as no transfer can run.
        case nothingToDo
        /// No transfer can run, and no other process uses a session that `nw transfers` could continue after that
        /// process has exited.
        case idleness
        /// The task is cancelled.
        case interruption
    }

    /// The interval between checks for new transfers.
    private static let interval = Duration.seconds(2)

    private let transfers: BackgroundTransfers
    private let limit: Limit
    private let choose: @Sendable (BackgroundTransfers) -> [Session]

    init(
        _ transfers: BackgroundTransfers, until limit: Limit,
        _ choose: @escaping @Sendable (BackgroundTransfers) -> [Session]
    ) {
        self.transfers = transfers
        self.limit = limit
        self.choose = choose
    }

    // MARK: The process that programs start

    /// Continues the transfers of all programs until none can run. Returns immediately if another process does this.
    static func untilIdle(_ transfers: BackgroundTransfers) async throws {
        let run = TransfersRun(transfers, until: .idleness) { $0.sessions(isBrief: true) }
        var left: Left = [:]
        while !Task.isCancelled, let after = try await run.asAgent(left) {
            left = after
            // Check for new transfers again: while this process held the lock, a program that started a transfer did
            // not start another process to continue it.
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
        case .unusable: throw CommandFailure("cannot use the directory 'agent' beside '\(transfers.root ?? "")'")
        case .taken(let lock):
            let after = await run(left)
            return withExtendedLifetime(lock) { after }
        }
    }

    // MARK: Running

    /// Returns whether a session has transfers that can run.
    private static func isDue(_ session: Session, _ left: Left) -> Bool {
        session.activity == nil && session.isComplete && !session.pending.isEmpty
            && left[session.path] != session.pending
    }

    /// Returns whether the session may soon have transfers that can run: another process is using it now, and may exit
    /// before the transfers are complete, or the transfers cannot be read now.
    private static func isExpected(_ session: Session) -> Bool {
        session.activity != nil && session.isComplete || !session.isReadable
    }

    /// Continues transfers until the limit is reached or the task is cancelled.
    ///
    /// - Parameter left: For each session that earlier runs have tried, the tasks that were pending.
    /// - Returns: The argument, updated for the sessions of this run.
    func run(_ left: Left = [:]) async -> Left {
        var left = left
        await withTaskGroup(of: End.self) { group in
            var running: Set<String> = []
            var isTicking = false
            while !Task.isCancelled {
                let others = choose(transfers).filter { !running.contains($0.path) }
                for session in others {
                    if session.activity != nil { left[session.path] = nil }
                    guard Self.isDue(session, left) else { continue }
                    left[session.path] = session.pending
                    running.insert(session.path)
                    group.addTask { await run(session) }
                }
                let waits = limit == .interruption || limit == .idleness && others.contains { Self.isExpected($0) }
                guard waits || !running.isEmpty else { return group.cancelAll() }
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
                    // The run stopped because another process was using the session, such as the program that created
                    // it. That process may have exited since then, so let the session's transfers run again.
                    if !isCompleted { left[path] = nil }
                case nil: return
                }
            }
        }
        return left
    }

    private enum End: Sendable {
        case interval
        /// The run of a session has ended. `isCompleted` is true if only the program that created the session can
        /// continue its remaining tasks.
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
