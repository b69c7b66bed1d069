internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// The calls of one task to the program: in order, one at a time, on the delegate queue.
///
/// Several calls share one operation, because an operation costs more than most calls.
final class CallList: Sendable {
    private struct Waiting {
        var calls = Deque<@Sendable () -> Void>()
        var isScheduled = false
    }

    /// Calls of one operation. The rest waits for another one, so that other operations of the queue get their turn.
    private static let callsPerOperation = 16

    private let queue: OperationQueue
    private let waiting = LockedValue(Waiting())

    init(queue: OperationQueue) { self.queue = queue }

    /// Adds a call after all earlier ones.
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
