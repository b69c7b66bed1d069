internal import CausewayHTTP
internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// The queue or thread on which a task runs the program's callbacks.
enum CallPlace: Sendable {
    /// A delegate queue supplied by the program.
    case operations(OperationQueue)
    /// The serial delegate queue that a session created.
    case batch(CallBatch)
    /// Any thread of the Swift runtime. Use this only for a task with a single callback. The callback must only resume
    /// a Swift task, and must run no program code.
    case anywhere
}

/// Runs the callbacks of all tasks in a session on the serial delegate queue that the session created. One operation
/// runs several callbacks, because an operation costs more than most callbacks.
final class CallBatch: Sendable {
    private struct Waiting {
        var calls = Deque<@Sendable () -> Void>()
        var isScheduled = false
    }

    /// The maximum number of callbacks per operation, so that the queue's other operations also run.
    private static let callsPerOperation = 64

    private let queue: OperationQueue
    private let waiting = LockedValue(Waiting())

    init(_ queue: OperationQueue) { self.queue = queue }

    /// Appends a callback.
    func add(_ call: @escaping @Sendable () -> Void) {
        let schedules = waiting.withLock { waiting in
            waiting.calls.append(call)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if schedules { schedule() }
    }

    /// Adds an operation to the queue. On an event loop's thread, the operation is added after the loop's current round
    /// of events. It then runs the callbacks of all these events.
    private func schedule() {
        HTTPEngine.resumeTask { [self] in queue.addOperation { [self] in run() } }
    }

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

/// Runs the delegate callbacks and completion handlers of one task, in order and one at a time.
///
/// A `CallPlace` selects the queue or the thread for a callback. On an operation queue, one operation runs several
/// callbacks.
final class CallList: Sendable {
    private struct Waiting {
        var place: CallPlace
        var calls = Deque<@Sendable () -> Void>()
        var isScheduled = false
    }

    /// The maximum number of callbacks per operation. Callbacks above this number run in a new operation, so that the
    /// queue's other operations also run.
    private static let callsPerOperation = 16

    private let waiting: LockedValue<Waiting>

    init(_ place: CallPlace) { waiting = LockedValue(Waiting(place: place)) }

    /// Changes where later callbacks run. Callbacks that were added before stay where they are.
    func move(to place: CallPlace) { waiting.withLock { $0.place = place } }

    /// Whether callbacks may call the program's code.
    var mayCallProgram: Bool {
        waiting.withLock { waiting in if case .anywhere = waiting.place { false } else { true } }
    }

    /// Appends a callback.
    func add(_ call: @escaping @Sendable () -> Void) {
        let place = waiting.withLock { waiting -> CallPlace? in
            switch waiting.place {
            case .batch, .anywhere: return waiting.place
            case .operations: break
            }
            waiting.calls.append(call)
            guard !waiting.isScheduled else { return nil }
            waiting.isScheduled = true
            return waiting.place
        }
        switch place {
        case .batch(let batch): batch.add(call)
        case .anywhere: HTTPEngine.resumeTask(call)
        case .operations(let queue): schedule(in: queue)
        case nil: break
        }
    }

    private func schedule(in queue: OperationQueue) { queue.addOperation { [self] in run(in: queue) } }

    private func run(in queue: OperationQueue) {
        for _ in 0..<Self.callsPerOperation {
            let call = waiting.withLock { waiting -> (@Sendable () -> Void)? in
                let call = waiting.calls.popFirst()
                if call == nil { waiting.isScheduled = false }
                return call
            }
            guard let call else { return }
            call()
        }
        schedule(in: queue)
    }
}
