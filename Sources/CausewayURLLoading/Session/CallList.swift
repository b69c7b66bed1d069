internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// Runs the delegate callbacks and completion handlers of one task on the delegate queue, in order and one at a time.
///
/// Several callbacks share one operation, because an operation costs more than most callbacks.
final class CallList: Sendable {
    private struct Waiting {
        var calls = Deque<@Sendable () -> Void>()
        var isScheduled = false
    }

    /// The maximum number of callbacks per operation. Further callbacks run in a new operation, so that other operations of the queue also
    /// run.
    private static let callsPerOperation = 16

    private let queue: OperationQueue
    private let waiting = LockedValue(Waiting())

    init(queue: OperationQueue) { self.queue = queue }

    /// Appends a callback.
    func add(_ call: @escaping @Sendable () -> Void) {
        let schedules = waiting.withLock { waiting in
            waiting.calls.append(call)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if schedules { schedule() }
    }

    private func schedule() { queue.addOperation { [self] in run() } }

    private func run() {
        for _ in 0..<Self.callsPerOperation {
            let call = waiting.withLock { waiting -> (@Sendable () -> Void)? in
                let call = waiting.calls.popFirst()
                if call == nil { waiting.isScheduled = false }
                return call
            }
            guard let call else { return }
            call()
        }
        schedule()
    }
}
