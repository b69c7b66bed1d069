internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The transfers in a background session: the store, the locks, and the order in which tasks run.
///
/// A session has two locks. The program holds the first lock as long as its session exists; a second session with the
/// same identifier is refused. The second lock is for the transfers: only the process that holds it sends and receives
/// the tasks' data. `nw transfers` takes the second lock only while no program holds the first lock, and releases it
/// when a program has taken the first lock.
final class BackgroundSession: Sendable {
    /// The kind of process that uses the session.
    enum Role: Sendable {
        /// The program that owns the session.
        case owner
        /// The command `nw transfers`.
        case command
    }

    enum Access: Sendable {
        /// This process holds the lock for the transfers and may run the tasks.
        case active
        /// The program waits until `nw transfers` has released its lock.
        case waiting
        /// Another session already uses this session's identifier.
        case refused
        /// The session has ended and has released its locks.
        case closed
    }

    /// The state of a background session. Guarded by a lock.
    struct State {
        /// The state while the session restores its tasks from the store.
        struct Restoring {
            /// The tasks that were stored when the session started. The session may transfer them at once.
            var stored: [Int] = []
            /// The identifiers of the tasks that this process created before it had restored all stored tasks.
            var created: Set<Int> = []
            var isOver = false
            /// The calls that wait until all stored tasks are restored.
            var waiting: [@Sendable () -> Void] = []
        }

        /// When the session next checks for due tasks.
        struct WakeUp {
            /// The latest time of the session's next check; `nil` if no timer is set.
            var due: Duration?
            /// The number of the latest timer. A timer with a lower number does nothing when it fires.
            var number = 0
            /// How long a discretionary session has waited for a low load.
            var busyWait = BusyWait()
        }

        var access = Access.refused
        var ownership: FileLock?
        var activity: FileLock?
        var queue = TransferQueue()
        var cores: [Int: TaskCore] = [:]
        var restoring = Restoring()
        var wakeUp = WakeUp()
        /// Closures to call when the session has closed.
        var closing: [@Sendable () -> Void] = []
        var record: SessionRecord
        var agent = Agent()
        /// Whether the session's tasks stay in the store when the session ends.
        var isLeaving = false
    }

    /// The maximum interval between a program's attempts to take the transfer lock while `nw transfers` holds it, in
    /// milliseconds.
    static let maximumClaimInterval = 500

    let store: TransferStore
    let role: Role
    let isDiscretionary: Bool
    let state: LockedValue<State>

    /// Opens a session's store. ``start(_:)`` must be called afterwards.
    ///
    /// - Throws: `SystemError` if the store cannot be read now, for example without a free descriptor. With the
    ///   identifiers of an empty store, new tasks would replace the stored ones.
    init(
        _ store: TransferStore, _ settings: SessionSettings, role: Role, program: String = StoreDirectory.programName
    ) throws(SystemError) {
        var initial = State(record: SessionRecord(settings, program: program))
        switch role {
        case .owner: initial.ownership = try store.claim(.owner)
        case .command: break
        }
        if role == .command || initial.ownership != nil { initial.activity = try store.claim(.activity) }
        // No other process removes tasks while this process holds the second lock.
        let stored = try store.storedIdentifiers()
        let lastIdentifier = try store.settings()?.lastIdentifier ?? 0
        self.store = store
        self.role = role
        isDiscretionary = settings.access.isDiscretionary
        initial.restoring.stored = stored
        initial.record.lastIdentifier = max(lastIdentifier, stored.last ?? 0)
        switch (role, initial.ownership != nil, initial.activity != nil) {
        case (.owner, true, true), (.command, _, true): initial.access = .active
        case (.owner, true, false): initial.access = .waiting
        case (.owner, false, _), (.command, _, false):
            initial.access = .refused
            initial.restoring.isOver = true
        }
        if role == .owner, initial.ownership != nil { store.write(initial.record) }
        state = LockedValue(initial)
    }

    var access: Access { state.withLock { $0.access } }

    /// The highest task identifier so far.
    var lastIdentifier: Int { state.withLock { $0.record.lastIdentifier } }

    // MARK: Starting and ending

    /// Restores the stored tasks. If another process holds the lock for the transfers, restores them when this process
    /// has the lock.
    func start(_ session: URLSession) {
        switch access {
        case .active: restore(state.withLock { $0.restoring.stored }, in: session)
        case .waiting: claim(session)
        case .refused, .closed: break
        }
    }

    private func claim(_ session: URLSession, after interval: Int = 20) {
        session.core.work.call(after: .milliseconds(interval)) { [self] in
            guard access == .waiting else { return }
            guard let lock = store.lockAtOnce(.activity), let stored = store.identifiers else {
                return claim(session, after: min(interval * 2, Self.maximumClaimInterval))
            }
            let isWanted = state.withLock { state in
                // The session may have been closed since the check above. In this case, release the new lock.
                guard state.access == .waiting else { return false }
                state.activity = lock
                state.access = .active
                return true
            }
            if isWanted { restore(stored, in: session) }
        }
    }

    /// Calls a closure after the tasks have been restored.
    func afterRestoring(_ body: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            if !state.restoring.isOver { state.restoring.waiting.append(body) }
            return !state.restoring.isOver
        }
        if !waits { body() }
    }

    /// Whether the session may end when no task is left in memory. Before that, its stored tasks must have been
    /// restored. This does not apply if they stay in the store.
    var mayEnd: Bool { state.withLock { $0.restoring.isOver || $0.isLeaving } }

    /// Ends the restoring of the stored tasks.
    func restored(in session: URLSession, hasResults: Bool) {
        let waiting = state.withLock { state in
            defer { state.restoring.waiting = [] }
            state.restoring.isOver = true
            state.restoring.stored = []
            state.restoring.created = []
            return state.restoring.waiting
        }
        for body in waiting { body() }
        if hasResults { session.core.reportFinishedEvents(session) }
        advance()
    }

    /// Releases the locks when no task is left.
    func close() {
        for body in release() { body() }
    }

    /// Releases the locks. Returns the closures that must be called when the session has closed.
    private func release() -> [@Sendable () -> Void] {
        let (locks, calls) = state.withLock { state in
            defer {
                state.access = .closed
                state.restoring.isOver = true
                state.ownership = nil
                state.activity = nil
                state.restoring.waiting = []
                state.closing = []
            }
            return ([state.activity, state.ownership], state.restoring.waiting + state.closing)
        }
        withExtendedLifetime(locks) {}
        return calls
    }

    /// Suspends until the session has released its locks.
    func closed() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isClosed = state.withLock { state in
                if state.access != .closed { state.closing.append { continuation.resume() } }
                return state.access == .closed
            }
            if isClosed { continuation.resume() }
        }
    }

    /// Whether results stay in the store. The command `nw transfers` leaves them there for the program. A session that
    /// is closing can leave them there for the program's next session.
    var keepsTasks: Bool { role == .command || state.withLock { $0.isLeaving } }

    /// Returns whether a completed task stays in the store.
    func keepsTask(isCancelled: Bool) -> Bool {
        role == .command || isCancelled && state.withLock { $0.isLeaving }
    }

    /// Keeps the tasks in the store when the session ends.
    func leave() { state.withLock { $0.isLeaving = true } }

    // MARK: Tasks

    /// Stores a new task. Returns `plan` with the stored transfer. If the task cannot be stored, returns `plan` with
    /// the reason.
    func planned(_ plan: TaskPlan, _ identifier: Int, _ request: URLRequest?) -> TaskPlan {
        var plan = plan
        guard access != .refused, access != .closed else {
            plan.failure = plan.failure ?? LoadFailure(access == .refused ? .backgroundSessionInUse : .cancelled)
            return plan
        }
        guard plan.failure == nil, let request, let record = Self.record(of: plan, identifier, request) else {
            return plan
        }
        state.withLock { state in
            if !state.restoring.isOver { state.restoring.created.insert(identifier) }
            state.record.lastIdentifier = max(state.record.lastIdentifier, identifier)
        }
        guard store.write(record) else {
            plan.failure = LoadFailure(.fileNotWritten)
            return plan
        }
        let transfer = BackgroundTransfer(record, in: self)
        if let resumption = plan.resumption { transfer.takeOver(resumption) }
        if let upload = plan.upload?.value { transfer.note(upload, of: request, plan.source) }
        plan.resumption = nil
        plan.transfer = transfer
        return plan
    }

    /// Returns the record of a task that outlives the process; `nil` for other tasks.
    private static func record(of plan: TaskPlan, _ identifier: Int, _ request: URLRequest) -> TransferRecord? {
        guard TransferRecord.supports(request.url) else { return nil }
        switch (plan.outlet, plan.source) {
        case (.file(nil), .request):
            guard request.httpBodyStream == nil else { return nil }
            return TransferRecord(identifier: identifier, request: request, uploadPath: nil)
        case (.delegate, .file(let url)):
            return TransferRecord(identifier: identifier, request: request, uploadPath: url.path)
        default: return nil
        }
    }

    /// Removes a task's files. Its identifier is not used again.
    func forget(_ identifier: Int) {
        if store.session?.lastIdentifier ?? 0 < identifier { store.write(state.withLock { $0.record }) }
        store.remove(identifier)
    }
}
