internal import CausewaySystem

/// Holds the task that an attempt currently belongs to.
final class OwnerBox: Sendable {
    private let current: LockedValue<TaskCore>

    init(_ task: TaskCore) { current = LockedValue(task) }

    var task: TaskCore {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
