internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The session state that its tasks use: the settings, the queues, and the task table.
final class SessionCore: Sendable {
    private enum Phase {
        case valid
        /// No new tasks are started.
        case finishing
        /// The session was invalidated, and its tasks are cancelled. Tasks that a background session restores in this
        /// phase are cancelled too.
        case cancelling
        case invalid
    }

    private struct State {
        var phase = Phase.valid
        var delegate: DelegateViews?
        var tasks: [Int: URLSessionTask] = [:]
        var lastIdentifier: Int
        var description: String?
    }

    private let box: Unchecked<SessionSettings>
    /// The delegate queue.
    let queue: OperationQueue
    /// Where callbacks to the program run.
    let callPlace: CallPlace
    private let hasOwnProtocols: Bool
    /// Whether the session was created with a delegate. Without a delegate, tasks need not take the lock to look for
    /// one.
    private let hadDelegate: Bool
    /// The queue on which loaders run and messages are handled.
    let work = DispatchQueue(label: "causeway.url-session", attributes: .concurrent)
    /// Whether this is the shared session, which cannot be invalidated.
    let isShared: Bool
    /// The engines and connections for http and https.
    let network: HTTPNetwork
    private let state: LockedValue<State>
    private let timeouts: TimeoutWatch
    /// Where a background session stores its tasks. Other sessions have the value `.foreground`.
    let background: BackgroundPlace

    init(
        _ settings: SessionSettings, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        isShared: Bool = false, background: BackgroundPlace = .foreground
    ) {
        self.background = background
        box = Unchecked(settings)
        if let queue {
            self.queue = queue
            callPlace = .operations(queue)
        } else {
            self.queue = Self.serialQueue()
            callPlace = .batch(CallBatch(self.queue))
        }
        self.isShared = isShared
        hasOwnProtocols = Self.hasOwnProtocols(settings)
        hadDelegate = delegate != nil
        state = LockedValue(
            State(delegate: DelegateViews(delegate), lastIdentifier: background.session?.lastIdentifier ?? 0))
        timeouts = TimeoutWatch(queue: work)
        network = HTTPNetwork(box, queue: work)
        timeouts.attach(self)
    }

    /// The settings. They never change.
    var settings: SessionSettings { box.value }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "causeway.url-session.delegate"
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    /// Whether the configuration's protocol classes differ from the list of all built-in classes.
    private static func hasOwnProtocols(_ settings: SessionSettings) -> Bool {
        guard let classes = settings.protocolClasses else { return true }
        let builtIn = BuiltInProtocols.all
        return classes.count != builtIn.count || zip(classes, builtIn).contains { $0 != $1 }
    }

    /// Whether the program's own `URLProtocol` classes may load requests.
    var hasProgramProtocols: Bool { hasOwnProtocols || isShared && !ProtocolRegistry.registered.isEmpty }

    /// The delegate; `nil` after the session has become invalid.
    var delegate: DelegateViews? { hadDelegate ? state.withLock { $0.delegate } : nil }

    /// Whether there is a delegate.
    var hasDelegate: Bool { hadDelegate && state.withLock { $0.delegate != nil } }

    /// An application-defined description.
    var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: Tasks

    /// Creates a task core with the next identifier.
    ///
    /// - Parameter isStored: Whether a background session stores the task.
    func makeCore(
        _ session: URLSession, _ request: consuming URLRequest?, _ plan: consuming TaskPlan, isStored: Bool = true
    ) -> TaskCore {
        let identifier = state.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
        guard isBackground, isStored else {
            return TaskCore(identifier: identifier, session: session, request: request, plan: plan)
        }
        let stored = planned(plan, identifier, request)
        return TaskCore(identifier: identifier, session: session, request: request, plan: stored)
    }

    /// Whether the tasks are background transfers.
    var isBackground: Bool {
        if case .foreground = background { false } else { true }
    }

    /// Retains a task until it completes. If the session has been invalidated, the task is cancelled immediately.
    func add(_ task: URLSessionTask) {
        guard let core = task.core else { return }
        let isValid = state.withLock { state in
            state.tasks[core.identifier] = task
            return state.phase == .valid
        }
        if !isValid { core.cancel() }
    }

    /// Adds a task that continues earlier work. Returns whether the task continues.
    ///
    /// Such a task is a stored task, or it replaces a data task. The session retains the task, unless the session has
    /// ended. A session that finishes its tasks also finishes this task. A session that is being cancelled cancels this
    /// task.
    @discardableResult
    func addContinuing(_ task: URLSessionTask) -> Bool {
        guard let core = task.core else { return false }
        let phase = state.withLock { state in
            if state.phase != .invalid { state.tasks[core.identifier] = task }
            return state.phase
        }
        switch phase {
        case .valid, .finishing: return true
        case .cancelling: core.cancel()
        case .invalid: core.detach()
        }
        return false
    }

    /// Releases a completed task. If the session has been invalidated and no task is left, the session ends.
    func remove(_ task: URLSessionTask) {
        guard let core = task.core else { return }
        let (removed, mayEnd) = state.withLock { state in
            (state.tasks.removeValue(forKey: core.identifier), state.phase != .valid)
        }
        withExtendedLifetime(removed) {}
        core.detach()
        if mayEnd { endIfIdle(core.session) }
    }

    /// The tasks in the session's public lists, in creation order. As on Apple platforms, tasks that were never resumed
    /// are missing. The lists of background sessions include these tasks, because the program may resume them after a
    /// restart.
    var tasks: [URLSessionTask] {
        state.withLock { state in state.tasks.sorted { $0.key < $1.key }.map(\.value) }
            .filter { isBackground ? $0.state != .completed : $0.core?.isListed == true }
    }

    /// The cores of tasks that have not completed.
    var cores: [TaskCore] { state.withLock { state in state.tasks.values.compactMap(\.core) } }

    /// Starts monitoring a task's timeouts. Call this again when the timeouts continue after a pause.
    func watch(_ core: TaskCore) {
        if let deadline = core.state.withLock({ $0.deadline }) { watch(until: deadline) }
    }

    /// Schedules a time at which the session checks the timeouts of all tasks: `deadline`. If an earlier check is
    /// already scheduled, nothing changes.
    func watch(until deadline: Duration) { timeouts.arm(deadline) }

    // MARK: Invalidation

    /// Invalidates the session: no new tasks are started. Has no effect on the shared session.
    func invalidate(_ session: URLSession, cancelsTasks: Bool) {
        guard !isShared else { return }
        let tasks = state.withLock { state in
            if state.phase != .invalid, state.phase != .cancelling {
                state.phase = cancelsTasks ? .cancelling : .finishing
            }
            return cancelsTasks ? Array(state.tasks.values) : []
        }
        for task in tasks { task.cancel() }
        // A background session may end only after it has restored its stored tasks. This also applies while `nw
        // transfers` runs these tasks.
        if background.session?.mayEnd == false {
            afterRestoring { [self] in endIfIdle(session) }
        } else {
            endIfIdle(session)
        }
    }

    private func endIfIdle(_ session: URLSession) {
        guard background.session?.mayEnd != false else { return }
        let ends = state.withLock { state in
            guard state.phase == .finishing || state.phase == .cancelling, state.tasks.isEmpty else { return false }
            state.phase = .invalid
            return true
        }
        guard ends else { return }
        timeouts.stop()
        network.close()
        background.session?.close()
        queue.addOperation { [self] in
            if let delegate = delegate?.session {
                _ = DelegateProbe.call(delegate, .becameInvalid) {
                    delegate.urlSession(session, didBecomeInvalidWithError: nil)
                }
            }
            let old = state.withLock { state in
                defer { state.delegate = nil }
                return state.delegate
            }
            withExtendedLifetime(old) {}
        }
    }
}
