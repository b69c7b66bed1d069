/// The state of a task: created suspended, running or suspended in nested fashion, cancelled or not, completed once.
struct TaskLife: Sendable {
    private enum Phase {
        case notBegun, begun, canceling, completed
    }

    /// What follows from ``resume()``.
    enum Consequence: Equatable {
        case none
        /// The task runs for the first time.
        case begin
        /// The task runs again.
        case goOn
    }

    private var phase = Phase.notBegun
    /// Number of calls of `resume` until the task runs.
    private var suspensions = 1

    /// The state that programs see.
    var state: URLSessionTask.State {
        switch phase {
        case .notBegun, .begun: suspensions > 0 ? .suspended : .running
        case .canceling: .canceling
        case .completed: .completed
        }
    }

    /// Whether the task was cancelled or is complete.
    var isOver: Bool { phase == .canceling || phase == .completed }

    /// Ends one suspension. Calls beyond the number of suspensions have no effect.
    mutating func resume() -> Consequence {
        guard !isOver, suspensions > 0 else { return .none }
        suspensions -= 1
        guard suspensions == 0 else { return .none }
        return phase == .notBegun ? .begin : .goOn
    }

    /// Adds a suspension. Returns whether the task ran until now.
    mutating func suspend() -> Bool {
        guard !isOver else { return false }
        suspensions += 1
        return suspensions == 1
    }

    /// Begins to load. Returns whether this is the first time and the task runs.
    mutating func begin() -> Bool {
        guard phase == .notBegun, suspensions == 0 else { return false }
        phase = .begun
        return true
    }

    /// Cancels the task. Returns whether this has an effect.
    mutating func cancel() -> Bool {
        guard !isOver else { return false }
        phase = .canceling
        return true
    }

    /// Completes the task. Returns whether it was not complete before.
    mutating func complete() -> Bool {
        defer { phase = .completed }
        return phase != .completed
    }
}
