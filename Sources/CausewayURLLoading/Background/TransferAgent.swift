internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Starts `nw transfers run --until-idle`: one process for all of the user's programs, which continues background sessions while their
/// programs are not running. Without the command, transfers end with the program and continue with its next session.
///
/// All work is done on a queue, because this class reads files and starts a process.
final class TransferAgent: Sendable {
    /// The environment variable with the command: an absolute path, or a name to look up in `PATH`. An empty value starts no process.
    static let variable = "CAUSEWAY_TRANSFERS_COMMAND"
    static let arguments = ["transfers", "run", "--until-idle"]
    /// The file name of the agent's lock.
    static let lockName = "agent.lock"
    /// The minimum time between two starts. A process that was just started does not hold the lock yet, and a process
    /// that fails must not be restarted in a loop.
    private static let minimumInterval = Duration.seconds(10)

    static let shared = TransferAgent()

    private struct State {
        var isChecking = false
        /// The result of the command lookup.
        var command: Command?
        var lastStart: Duration?
    }

    enum Command: Equatable {
        case path(String)
        case missing(reason: String)
    }

    let queue = DispatchQueue(label: "causeway.transfers", qos: .utility)
    private let state = LockedValue(State())

    /// Starts the process unless it already runs. Returns at once.
    ///
    /// - Parameter root: The directory of all sessions.
    func start(for root: String) {
        let isFirst = state.withLock { state in
            defer { state.isChecking = true }
            return !state.isChecking
        }
        guard isFirst else { return }
        queue.async { [self] in
            // The flag for a planned check is cleared before the check, so that a call during the check plans another
            // one.
            state.withLock { $0.isChecking = false }
            startNow(root)
        }
    }

    private func startNow(_ root: String) {
        let now = MonotonicTime.now
        let last = state.withLock { $0.lastStart }
        guard last.map({ now - $0 >= Self.minimumInterval }) ?? true,
            Self.directory(for: root, isCreated: false)?.isLocked(Self.lockName) != true, let path = command()
        else { return }
        state.withLock { $0.lastStart = now }
        do throws(SystemError) {
            try DetachedProcess.start(path, arguments: Self.arguments, environment: Self.environment(for: root))
        } catch {
            state.withLock { $0.command = .missing(reason: "") }
            Self.note("cannot start \(path): errno \(error.errno)")
        }
    }

    /// Returns the lock's directory, which is next to the directory of all sessions; `nil` if it is missing or
    /// accessible to others.
    static func directory(for root: String, isCreated: Bool) -> PrivateDirectory? {
        PrivateDirectory(parent(of: root) + "/agent", isCreated: isCreated)
    }

    private static func parent(of root: String) -> String {
        URL(fileURLWithPath: root).deletingLastPathComponent().path
    }

    /// The agent's environment: this program's environment, with the state directory that this program uses.
    private static func environment(for root: String) -> [String: String] {
        var values = ProcessInfo.processInfo.environment
        values["XDG_STATE_HOME"] = URL(fileURLWithPath: parent(of: root)).deletingLastPathComponent().path
        return values
    }

    private static func note(_ reason: String) {
        SystemLog.note(
            "\(reason). Background transfers of \(StoreDirectory.programName) end with it, and continue with its next "
                + "session. Install the command nw in PATH, or set \(variable) to its path.")
    }

    // MARK: The command

    private func command() -> String? {
        if let known = state.withLock({ $0.command }) {
            guard case .path(let path) = known else { return nil }
            return path
        }
        let found = Self.find(in: ProcessInfo.processInfo.environment)
        state.withLock { $0.command = found }
        switch found {
        case .path(let path): return path
        case .missing(let reason):
            Self.note(reason)
            return nil
        }
    }

    /// Finds the command.
    static func find(in environment: [String: String]) -> Command {
        let name = environment[variable] ?? "nw"
        if name.isEmpty { return .missing(reason: "\(variable) is empty") }
        if name.hasPrefix("/") { return .path(name) }
        guard !name.contains("/") else {
            return .missing(reason: "\(variable) is neither a name nor an absolute path: \(name)")
        }
        // Relative folders in `PATH` are ignored, because they would depend on the current directory. Another program
        // can also have the name `nw`, but only Causeway's command contains the text `CAUSEWAY_TRANSFERS_COMMAND`.
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        let path = folders.lazy.map { "\($0)/\(name)" }
            .first { DetachedProcess.isProgram($0, containing: variable) }
        return path.map { .path($0) }
            ?? .missing(reason: "no command \(name) of Causeway in PATH that only its owner can write")
    }
}
