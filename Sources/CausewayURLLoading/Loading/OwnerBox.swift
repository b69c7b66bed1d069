internal import CausewaySystem

/// The task that an attempt belongs to at the moment.
final class OwnerBox: Sendable {
    private let current: LockedValue<TaskCore>

    init(_ task: TaskCore) { current = LockedValue(task) }

    var task: TaskCore {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
