internal import CausewaySystem
internal import Foundation

/// The state of a task created without a session.
final class DetachedTask: Sendable {
    private let values = LockedValue(TaskState.Options())
    private let created = LockedValue<Progress?>(nil)

    var options: TaskState.Options { values.withLock { $0 } }

    func change(_ body: (inout TaskState.Options) -> Void) { values.withLock { body(&$0) } }

    /// A `Progress` object that is never updated.
    var progress: Progress {
        let new = Progress(totalUnitCount: NSURLSessionTransferSizeUnknown)
        return created.withLock { created in
            if let created { return created }
            created = new
            return new
        }
    }
}
