internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Starts `nw transfers run --until-idle`: one process for all of the user's programs, which continues background
/// sessions while their programs are not running. A process is started only for sessions whose command the program or
/// the user has named. Without it, transfers end with the program and continue with its next session.
///
/// All work is done on a queue, because this class reads files and starts a process.
final class TransferAgent: Sendable {
    /// The environment variable with the command: an absolute path, or a name to look up in `PATH`. With an empty value,
    /// no process is started.
    static let variable = "CAUSEWAY_TRANSFERS_COMMAND"
    static let arguments = ["transfers", "run", "--until-idle"]
    /// The file name of the agent's lock.
    static let lockName = "agent.lock"
    /// The minimum time between two starts of the agent process.
    ///
    /// A process that was just started does not hold the lock yet. A process that fails must not be restarted in a fast
    /// loop.
    private static let minimumInterval = Duration.seconds(10)

    static let shared = TransferAgent()

    private struct State {
        /// The commands for which a check is planned.
        var planned: Set<String> = []
        /// The results of the command lookups.
        var found: [String: Command] = [:]
        var lastStart: Duration?
    }

    enum Command: Equatable {
        case path(String)
        case missing(reason: String)
    }

    let queue = DispatchQueue(label: "causeway.transfers", qos: .utility)
    private let state = LockedValue(State())

    /// Returns the command that a session starts: the variable's value, otherwise the one that the program has set;
    /// `nil` if the session starts no process.
    static func command(setBy program: String?, in environment: [String: String]) -> String? {
        let command = environment[variable] ?? program
        return command?.isEmpty == false ? command : nil
    }

    /// Starts the process unless it already runs. Returns at once.
    ///
    /// - Parameters:
    ///   - command: An absolute path, or a name to look up in `PATH`.
    ///   - root: The directory of all sessions.
    func start(_ command: String, for root: String) {
        let isFirst = state.withLock { $0.planned.insert(command).inserted }
        guard isFirst else { return }
        queue.async { [self] in
            // The planned check is forgotten before it begins, so that a call during the check plans another one.
            state.withLock { _ = $0.planned.remove(command) }
            startNow(command, root)
        }
    }

    private func startNow(_ command: String, _ root: String) {
        let now = MonotonicTime.now
        let last = state.withLock { $0.lastStart }
        guard last.map({ now - $0 >= Self.minimumInterval }) ?? true,
            Self.directory(for: root, isCreated: false)?.isLocked(Self.lockName) != true,
            let path = executable(of: command)
        else { return }
        state.withLock { $0.lastStart = now }
        do throws(SystemError) {
            try DetachedProcess.start(path, arguments: Self.arguments, environment: Self.environment(for: root))
        } catch {
            state.withLock { $0.found[command] = .missing(reason: "") }
            Self.note("cannot start \(path): errno \(error.errno)")
        }
    }

    /// Returns the lock's directory, which is next to the directory of all sessions; `nil` if it is missing or
    /// accessible to others.
    static func directory(for root: String, isCreated: Bool) -> PrivateDirectory? {
        PrivateDirectory(path(for: root), isCreated: isCreated)
    }

    /// Returns the path of the lock's directory.
    static func path(for root: String) -> String { parent(of: root) + "/agent" }

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
                + "session. Install the command nw, and set \(variable) to its path.")
    }

    // MARK: The command

    private func executable(of command: String) -> String? {
        if let known = state.withLock({ $0.found[command] }) {
            guard case .path(let path) = known else { return nil }
            return path
        }
        let found = Self.find(command, in: ProcessInfo.processInfo.environment)
        state.withLock { $0.found[command] = found }
        switch found {
        case .path(let path): return path
        case .missing(let reason):
            Self.note(reason)
            return nil
        }
    }

    /// Finds a command.
    static func find(_ name: String, in environment: [String: String]) -> Command {
        if name.hasPrefix("/") { return .path(name) }
        guard !name.contains("/") else {
            return .missing(reason: "the command for transfers is neither a name nor an absolute path: \(name)")
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
