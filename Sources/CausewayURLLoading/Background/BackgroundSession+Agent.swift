internal import CausewaySystem
internal import Foundation

/// The process that goes on with the tasks while the program is away.
extension BackgroundSession {
    /// The agent as the session knows it.
    struct Agent {
        /// The directory of all sessions; `nil` if no process goes on with the tasks.
        var root: String?
        /// Whether the session looks from time to time whether the process runs.
        var isWatched = false
    }

    /// The interval at which the session starts a process again that was killed, in seconds.
    private static let watchInterval = 30

    /// Lets another process go on with the tasks while the program is away.
    ///
    /// - Parameter root: The directory of all sessions.
    func useAgent(in root: String) { state.withLock { $0.agent.root = root } }

    /// Starts the process unless it runs, or there is nothing that it could do.
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
        TransferAgent.shared.queue.asyncAfter(deadline: .now() + .seconds(Self.watchInterval)) { [weak self] in
            guard let self else { return }
            state.withLock { $0.agent.isWatched = false }
            ensureAgent()
        }
    }
}
