/// The life cycle of a task. A task is created suspended, suspensions can be nested, and it completes exactly once.
struct TaskLife: Sendable {
    private enum Phase {
        case notBegun, begun, canceling, completed
    }

    /// What the caller of ``resume()`` must do.
    enum Consequence: Equatable {
        case none
        /// Start loading: the task runs for the first time.
        case begin
        /// Continue loading: the task was suspended and now runs again.
        case goOn
    }

    private var phase = Phase.notBegun
    /// The number of `resume` calls needed until the task runs.
    private(set) var suspensions = 1
    /// Whether the task has ever been running.
    private(set) var hasRun = false

    /// The state as programs see it.
    var state: URLSessionTask.State {
        switch phase {
        case .notBegun, .begun: suspensions > 0 ? .suspended : .running
        case .canceling: .canceling
        case .completed: .completed
        }
    }

    /// Whether the task was cancelled or is complete.
    var isOver: Bool { phase == .canceling || phase == .completed }

    /// Whether the session lists the task among its tasks. This is so if the task has run and was neither cancelled nor
    /// completed.
    var isListed: Bool { hasRun && !isOver }

    /// Ends one suspension. Calls beyond the number of suspensions have no effect.
    mutating func resume() -> Consequence {
        guard !isOver, suspensions > 0 else { return .none }
        suspensions -= 1
        guard suspensions == 0 else { return .none }
        hasRun = true
        return phase == .notBegun ? .begin : .goOn
    }

    /// Adds a suspension. Returns whether the task was running before.
    mutating func suspend() -> Bool {
        guard !isOver else { return false }
        suspensions += 1
        return suspensions == 1
    }

    /// Records that loading has started. Returns `false` if the task is not running, or if loading has already started.
    mutating func begin() -> Bool {
        guard phase == .notBegun, suspensions == 0 else { return false }
        phase = .begun
        return true
    }

    /// Begins a task that continues the load of another task. The task is suspended as often as the other task was.
    mutating func begin(continuing other: TaskLife) {
        _ = resume()
        _ = begin()
        suspensions = other.suspensions
    }

    /// Changes the task's state to cancelling. Returns `false` if the task was already cancelled or complete.
    mutating func cancel() -> Bool {
        guard !isOver else { return false }
        phase = .canceling
        return true
    }

    /// Completes the task. Returns `false` if the task was already complete.
    mutating func complete() -> Bool {
        defer { phase = .completed }
        return phase != .completed
    }
}
