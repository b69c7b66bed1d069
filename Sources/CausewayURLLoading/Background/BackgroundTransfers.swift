internal import CausewaySystem
internal import Foundation

/// The user's stored background sessions, for `nw transfers`.
package struct BackgroundTransfers: Sendable {
    /// A stored task.
    package struct Item: Sendable {
        package var identifier: Int
        package var url: String
        package var isUpload: Bool
        /// The task's state: `suspended`, `waiting` or `finished`.
        package var state: String
        /// The number of stored content bytes.
        package var size: Int64
        package var description: String?
    }

    /// A stored session.
    package struct Session: Sendable {
        package var program: String
        package var identifier: String
        package var path: String
        /// The process that uses the session: `program` or `nw`; `nil` if there is none.
        package var activity: String?
        package var items: [Item]
        /// The names of the damaged records.
        package var damaged: [String]
        /// Whether the tasks could be read. If not, there are neither items nor damaged records here.
        package var isReadable: Bool
        /// Whether `nw transfers` can continue the session.
        package var isComplete: Bool

        /// The identifiers of tasks that can run.
        package var pending: [Int] { items.filter { $0.state == "waiting" }.map(\.identifier) }
    }

    /// How a run of a session ended.
    package enum Outcome: Sendable {
        /// Every remaining task waits for the program, or the run was cancelled. `finished` counts the session's tasks
        /// with a stored result, and `left` counts its tasks that are neither finished nor suspended.
        case completed(finished: Int, left: Int)
        /// The program is running again.
        case handedOver
        /// Another process uses the session, or it cannot be read now.
        case busy
    }

    /// The directory of all sessions; `nil` without a home directory.
    package let root: String?

    /// - Parameter root: The directory of all sessions; `nil` for the user's directory.
    package init(root: String? = nil) { self.root = root ?? BackgroundDirectory.root() }

    /// Returns all sessions with tasks or damaged records, and those that cannot be read now.
    ///
    /// - Parameter isBrief: Whether to leave out the tasks of sessions that their program is using. Such a session can
    ///   have many tasks.
    package func sessions(isBrief: Bool = false) -> [Session] {
        guard let root else { return [] }
        return BackgroundDirectory.all(in: root).compactMap { path in
            TransferStore(path, isCreated: false).flatMap { Self.session($0, isBrief: isBrief) }
        }
    }

    private static func session(_ store: TransferStore, isBrief: Bool = false) -> Session? {
        var items: [Item] = []
        var damaged: [String] = []
        let identifiers = store.identifiers
        guard identifiers?.isEmpty != true else { return nil }
        for identifier in isBrief && store.isLocked(.owner) ? [] : identifiers ?? [] {
            if let record = store.record(identifier) {
                items.append(item(record, in: store))
            } else {
                damaged.append("task-\(identifier)")
            }
        }
        let settings = store.session
        let parts = store.path.split(separator: "/")
        let activity = store.isLocked(.owner) ? "program" : store.isLocked(.activity) ? "nw" : nil
        return Session(
            program: settings?.program ?? parts.dropLast().last.map(String.init) ?? "",
            identifier: settings?.identifier ?? parts.last.map(String.init) ?? "", path: store.path, activity: activity,
            items: items, damaged: damaged, isReadable: identifiers != nil, isComplete: settings?.isComplete == true)
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
        guard let store = TransferStore(session.path, isCreated: false), let owner = store.lock(.owner),
            let activity = store.lock(.activity), let identifiers = store.identifiers
        else { return false }
        for identifier in identifiers where items?.contains(identifier) ?? true { store.remove(identifier) }
        return withExtendedLifetime((owner, activity)) { true }
    }

    // MARK: The agent

    /// The lock of the agent process that programs start on demand. The lock is released when this value is released.
    package struct AgentLock: Sendable {
        fileprivate let lock: FileLock
    }

    package enum AgentClaim: Sendable {
        case taken(AgentLock)
        /// Another process holds the lock.
        case refused
        /// The lock's directory cannot be used.
        case unusable
    }

    /// Takes the lock of the agent process that programs start on demand.
    package func claimAgent() -> AgentClaim {
        guard let root, let directory = TransferAgent.directory(for: root, isCreated: true) else { return .unusable }
        return directory.lock(TransferAgent.lockName).map { .taken(AgentLock(lock: $0)) } ?? .refused
    }

    // MARK: Running

    /// Runs a session's tasks until none can run or the program is running again.
    ///
    /// Cancellation: stops the tasks, which stay in the store.
    package func run(_ session: Session) async -> Outcome {
        guard let store = TransferStore(session.path, isCreated: false), let record = store.session, record.isComplete
        else { return .busy }
        var checkCount = 0
        while store.isLocked(.owner) {
            checkCount += 1
            // Check the lock up to three times, because another process can hold it briefly, see
            // ``TransferStore/lock(_:)``.
            guard checkCount < 3 else { return .busy }
            await Self.pause()
        }
        let stores = StoreDirectory.path(in: ProcessInfo.processInfo.environment, "programs", record.program)
        let settings = record.settings(stores: stores)
        guard let background = BackgroundSession(store, settings, role: .command, program: record.program),
            background.access == .active
        else { return .busy }
        let running = URLSession(
            core: SessionCore(settings, delegate: nil, queue: nil, background: .stored(background)))
        let isHandedOver = await wait(for: running, store)
        running.invalidateAndCancel()
        await background.closed()
        if isHandedOver { return .handedOver }
        let after = Self.session(store)
        guard after?.isReadable != false else { return .busy }
        return .completed(
            finished: after?.items.count { $0.state == "finished" } ?? 0, left: after?.pending.count ?? 0)
    }

    /// Returns whether the program has started again before all tasks completed.
    private func wait(for session: URLSession, _ store: TransferStore) async -> Bool {
        while !Task.isCancelled, session.core.tasks.contains(where: { $0.state == .running }) {
            if store.isLocked(.owner) { return true }
            await Self.pause()
        }
        return false
    }

    private static func pause() async { try? await Task.sleep(for: .milliseconds(100)) }
}
