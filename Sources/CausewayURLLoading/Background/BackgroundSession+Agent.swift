internal import Causeway
internal import CausewaySystem
internal import Foundation

/// Starts the agent process, which continues the tasks while the program is not running.
extension BackgroundSession {
    /// The state that is needed to start and to watch the agent process.
    struct Agent {
        /// The directory of all background sessions; `nil` if the sessions use no agent process.
        var root: String?
        /// The command: an absolute path, or a name to look up in `PATH`.
        var command = ""
        /// Whether a timer checks that the agent process runs.
        var isWatched = false
    }

    /// The interval between checks in seconds. A check restarts an agent that was killed.
    private static let watchInterval = 30

    /// Lets an agent process continue the tasks while the program is not running, if the program or the user has named
    /// its command.
    ///
    /// - Parameters:
    ///   - root: The directory of all sessions.
    ///   - program: The command that the program has set; `nil` for none.
    func useAgent(
        in root: String, setBy program: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        guard let command = TransferAgent.command(setBy: program, in: environment) else { return }
        state.withLock { state in
            state.agent.root = root
            state.agent.command = command
        }
    }

    /// Starts the agent process. Does nothing if the agent already runs, or if no task is queued.
    func ensureAgent() {
        let agent = state.withLock { state -> Agent? in
            guard state.access == .active, !state.queue.isEmpty, state.record.isComplete else { return nil }
            defer { state.agent.isWatched = state.agent.root != nil }
            return state.agent
        }
        guard let agent, let root = agent.root else { return }
        TransferAgent.shared.start(agent.command, for: root)
        guard !agent.isWatched else { return }
        TransferAgent.shared.queue.call(after: .seconds(Self.watchInterval)) { [weak self] in
            guard let self else { return }
            state.withLock { $0.agent.isWatched = false }
            ensureAgent()
        }
    }
}
