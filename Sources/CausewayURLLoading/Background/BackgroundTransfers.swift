internal import CausewaySystem
internal import Foundation

/// The user's stored background sessions, for `nw transfers`.
package struct BackgroundTransfers: Sendable {
    /// A stored task.
    package struct Item: Sendable {
        package var identifier: Int
        package var url: String
        package var isUpload: Bool
        /// The state of the task as text: `suspended`, `waiting` or `finished`.
        package var state: String
        /// The number of content bytes that are stored for this task.
        package var size: Int64
        package var description: String?
    }

    /// A stored session. A directory that cannot be read, and may contain sessions, is one without an identifier.
    package struct Session: Sendable {
        package var program: String
        package var identifier: String
        package var path: String
        /// The process that uses the session: `program` or `nw`; `nil` if there is none.
        package var activity: String?
        package var items: [Item]
        /// The file names of the damaged task records.
        package var damaged: [String]
        /// Why the tasks cannot be read now, in one line; `nil` if they were read. If they cannot be read, there are
        /// neither items nor damaged records here.
        package var problem: String?
        /// Whether `nw transfers` can continue the session.
        package var isComplete: Bool

        /// Whether the tasks could be read.
        package var isReadable: Bool { problem == nil }

        /// The identifiers of tasks that can run.
        package var pending: [Int] { items.filter { $0.state == "waiting" }.map(\.identifier) }
    }

    /// The outcome of running a session.
    package enum Outcome: Sendable {
        /// The run is complete: each remaining task waits for the program, or the run was cancelled.
        ///
        /// `finished` is the number of tasks with a stored result. `left` is the number of tasks that are neither
        /// finished nor suspended.
        case completed(finished: Int, left: Int)
        /// The program is running again.
        case handedOver
        /// Another process is using the session, or its stored files cannot be read at the moment.
        case busy
    }

    /// The directory of all sessions; `nil` without a home directory.
    package let root: String?

    /// - Parameter root: The directory of all sessions; `nil` for the user's directory.
    package init(root: String? = nil) { self.root = root ?? BackgroundDirectory.root() }

    /// Returns the stored sessions: those with tasks, those with damaged records, and those that cannot be read now.
    ///
    /// - Parameter isBrief: Whether to leave out the tasks of a session that its program is currently using. Such a
    ///   session can have many tasks.
    package func sessions(isBrief: Bool = false) -> [Session] {
        guard let root else { return [] }
        return BackgroundDirectory.all(in: root).compactMap { found in
            if let failure = found.failure {
                let program = found.path == root ? "" : Self.names(of: found.path).identifier
                return Self.unreadable(found.path, program, identifier: "", failure)
            }
            return Self.session(found.path, isBrief: isBrief)
        }
    }

    /// Reads a session; `nil` if it has no tasks, or if there is no session.
    private static func session(_ path: String, isBrief: Bool = false) -> Session? {
        do throws(SystemError) {
            let store = try TransferStore(opening: path, isCreated: false)
            do throws(SystemError) {
                return try session(store, isBrief: isBrief)
            } catch {
                var session = unreadable(path, error)
                session.activity = activity(in: store)
                return session
            }
        } catch {
            return BackgroundDirectory.isOther(error) ? nil : unreadable(path, error)
        }
    }

    private static func session(_ store: TransferStore, isBrief: Bool) throws(SystemError) -> Session? {
        var items: [Item] = []
        var damaged: [String] = []
        let identifiers = try store.storedIdentifiers()
        guard !identifiers.isEmpty else { return nil }
        for identifier in isBrief && store.isLocked(.owner) ? [] : identifiers {
            switch try store.stored(identifier) {
            case .record(let record): items.append(item(record, in: store))
            case .damaged: damaged.append("task-\(identifier)")
            // The task was removed after the directory was read.
            case .missing: break
            }
        }
        let settings = try store.settings()
        let names = names(of: store.path)
        return Session(
            program: settings?.program ?? names.program, identifier: settings?.identifier ?? names.identifier,
            path: store.path, activity: activity(in: store), items: items, damaged: damaged,
            isComplete: settings?.isComplete == true)
    }

    private static func unreadable(_ path: String, _ error: SystemError) -> Session {
        let names = names(of: path)
        return unreadable(path, names.program, identifier: names.identifier, error)
    }

    private static func unreadable(
        _ path: String, _ program: String, identifier: String, _ error: SystemError
    ) -> Session {
        Session(
            program: program, identifier: identifier, path: path, items: [], damaged: [],
            problem: "cannot read \(path): \(error.message)", isComplete: false)
    }

    /// Returns the program and the identifier of a session, from the path of the session's directory.
    private static func names(of path: String) -> (program: String, identifier: String) {
        let parts = path.split(separator: "/")
        return (parts.dropLast().last.map(String.init) ?? "", parts.last.map(String.init) ?? "")
    }

    private static func activity(in store: TransferStore) -> String? {
        store.isLocked(.owner) ? "program" : store.isLocked(.activity) ? "nw" : nil
    }

    private static func item(_ record: TransferRecord, in store: TransferStore) -> Item {
        let state = record.stage == .finished ? "finished" : record.isSuspended ? "suspended" : "waiting"
        return Item(
            identifier: record.identifier, url: record.request.values.url?.absoluteString ?? "",
            isUpload: record.uploadPath != nil, state: state, size: store.contentSize(record.identifier) ?? 0,
            description: record.options.description)
    }

    /// Removes tasks from a session. Returns `false` if a process uses the session, or if it cannot be read now.
    package func remove(_ session: Session, items: [Int]? = nil) -> Bool {
        guard !session.identifier.isEmpty, let store = TransferStore(session.path, isCreated: false),
            let owner = store.lock(.owner), let activity = store.lock(.activity), let identifiers = store.identifiers
        else { return false }
        for identifier in identifiers where items?.contains(identifier) ?? true { store.remove(identifier) }
        return withExtendedLifetime((owner, activity)) { true }
    }

    // MARK: The agent

    /// The lock of the agent process, which programs start on demand. Releasing this value releases the lock.
    package struct AgentLock: Sendable {
        fileprivate let lock: FileLock
    }

    package enum AgentClaim: Sendable {
        case taken(AgentLock)
        /// Another process holds the lock.
        case refused
        /// The lock cannot be used for this reason.
        case unusable(String)
    }

    /// Takes the lock of the agent process that programs start on demand.
    package func claimAgent() -> AgentClaim {
        guard let root else { return .unusable("there is no home directory") }
        let path = TransferAgent.path(for: root)
        do throws(SystemError) {
            let lock = try PrivateDirectory(path: path).claim(TransferAgent.lockName)
            return lock.map { .taken(AgentLock(lock: $0)) } ?? .refused
        } catch {
            return .unusable("\(path): \(error.message)")
        }
    }

    // MARK: Running

    /// Runs the tasks of a session. Ends when no task can run, or when the program that owns the session has started.
    ///
    /// Cancellation: stops the tasks, which stay in the store.
    package func run(_ session: Session) async -> Outcome {
        guard let store = TransferStore(session.path, isCreated: false), let record = store.session, record.isComplete
        else { return .busy }
        var checkCount = 0
        while store.isLocked(.owner) {
            checkCount += 1
            // Check the lock up to three times. Another process can hold it briefly; see ``TransferStore/lock(_:)``.
            guard checkCount < 3 else { return .busy }
            await Self.pause()
        }
        let stores = StoreDirectory.path(in: ProcessInfo.processInfo.environment, "programs", record.program)
        let settings = record.settings(stores: stores)
        guard let background = try? BackgroundSession(store, settings, role: .command, program: record.program),
            background.access == .active
        else { return .busy }
        let running = URLSession(
            core: SessionCore(settings, delegate: nil, queue: nil, background: .stored(background)))
        let isHandedOver = await wait(for: running, background)
        running.invalidateAndCancel()
        await background.closed()
        if isHandedOver { return .handedOver }
        let after = Self.session(store.path)
        guard after?.isReadable != false else { return .busy }
        return .completed(
            finished: after?.items.count { $0.state == "finished" } ?? 0, left: after?.pending.count ?? 0)
    }

    /// Returns whether the program has started again before all tasks were restored and completed.
    private func wait(for session: URLSession, _ background: BackgroundSession) async -> Bool {
        while !Task.isCancelled, !background.mayEnd || session.core.tasks.contains(where: { $0.state == .running }) {
            if background.store.isLocked(.owner) { return true }
            await Self.pause()
        }
        return false
    }

    private static func pause() async { try? await Task.sleep(for: .milliseconds(100)) }
}
