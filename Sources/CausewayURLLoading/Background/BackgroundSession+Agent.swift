internal import Causeway
internal import CausewaySystem
internal import Foundation

/// Starts the agent process, which continues the tasks while the program is not running.
extension BackgroundSession {
    /// The state that is needed to start and to watch the agent process.
    struct Agent {
        /// The directory of all sessions; `nil` if no agent is used.
        var root: String?
        /// Whether a timer checks that the agent runs.
        var isWatched = false
    }

    /// The interval between checks in seconds. A check restarts an agent that was killed.
    private static let watchInterval = 30

    /// Lets an agent process continue the tasks while the program is not running.
    ///
    /// - Parameter root: The directory of all sessions.
    func useAgent(in root: String) { state.withLock { $0.agent.root = root } }

    /// Starts the agent process, unless it already runs or no task is queued.
    func ensureAgent() {
        let (root, beginsWatch) = state.withLock { state -> (String?, Bool) in
            guard state.access == .active, !state.queue.isEmpty, state.record.isComplete, let root = state.agent.root
            else { return (nil, false) }
            defer { state.agent.isWatched = true }
            return (root, !state.agent.isWatched)
        }
        guard let root else { return }
        TransferAgent.shared.start(for: root)
        guard beginsWatch else { return }
        TransferAgent.shared.queue.call(after: .seconds(Self.watchInterval)) { [weak self] in
            guard let self else { return }
            state.withLock { $0.agent.isWatched = false }
            ensureAgent()
        }
    }
}
