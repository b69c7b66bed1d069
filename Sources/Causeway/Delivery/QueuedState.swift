internal import CausewayRuntime
internal import CausewaySystem
internal import Dispatch

/// An object's state, whose changes are reported on the program's queue, in order. A change before the start is not
/// reported.
///
/// Each report calls the current handler, without holding a lock. Blocks passed to ``call(_:)`` wait until
/// ``start(on:)`` sets the queue. Thread-safe.
final class QueuedState<State: Sendable>: Sendable {
    /// Called at each state change.
    typealias Handler = @Sendable (State) -> Void

    private struct Progress {
        var state: State
        var handler: Handler?
        var queue: DispatchQueue?
        var delivery: SharedDelivery?
        var waiting: [@Sendable () -> Void] = []
        var phase = Phase.running
    }

    private enum Phase {
        case running
        /// The state is final.
        case ended
        /// Changes are not reported any more.
        case abandoned
    }

    private let progress: LockedValue<Progress>

    init(_ state: State) {
        progress = LockedValue(Progress(state: state))
    }

    /// The current state. May be read from any thread.
    var current: State { progress.withLock { $0.state } }

    /// The queue passed to ``start(on:)``; `nil` before the start.
    var queue: DispatchQueue? { progress.withLock { $0.queue } }

    /// Whether ``end(in:finally:)`` or ``abandon()`` was called.
    var hasEnded: Bool { progress.withLock { $0.phase != .running } }

    /// Called on the queue at each state change, up to the change to the final state.
    var handler: Handler? {
        get { progress.withLock { $0.handler } }
        set {
            // Release the old handler outside the lock: it may hold the only reference to one of the program's objects.
            let old = progress.withLock { progress in
                defer { progress.handler = newValue }
                return progress.handler
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Sets the queue for all callbacks, and runs the blocks that wait for the queue.
    ///
    /// - Returns: `true` for the first call, unless the state has already ended.
    func start(on queue: DispatchQueue) -> Bool {
        let delivery = SharedDelivery.on(queue)
        let began = progress.withLock { progress in
            guard progress.delivery == nil, progress.phase == .running else {
                return (isFirst: false, dispatches: false)
            }
            progress.queue = queue
            progress.delivery = delivery
            let waiting = progress.waiting
            progress.waiting = []
            return (true, waiting.reduce(false) { delivery.add(.call($1)) || $0 })
        }
        if began.dispatches { delivery.dispatch() }
        return began.isFirst
    }

    /// Changes the state and reports the change. Has no effect after the end.
    func move(to state: State) {
        change(to: state, ends: false) {}
    }

    /// Changes to the final state, reports it, and then releases the handler.
    ///
    /// - Parameter finally: Called on the queue after the report. If there is no queue, called on a global queue.
    func end(in state: State, finally: @escaping @Sendable () -> Void = {}) {
        change(to: state, ends: true, finally)
    }

    /// Releases the handler. Later changes, and changes whose reports wait for the queue, are not reported.
    func abandon() {
        progress.withLock { $0.phase = .abandoned }
        handler = nil
    }

    /// Runs a block on the queue, after all earlier blocks. If no queue is set yet, the block waits until the queue is set.
    func call(_ body: @escaping @Sendable () -> Void) {
        let delivery = progress.withLock { progress -> SharedDelivery? in
            if let delivery = progress.delivery { return delivery.add(.call(body)) ? delivery : nil }
            progress.waiting.append(body)
            return nil
        }
        delivery?.dispatch()
    }

    private func change(to state: State, ends: Bool, _ finally: @escaping @Sendable () -> Void) {
        let report: @Sendable () -> Void = { [self] in
            // The program may set a handler again after the state was abandoned.
            progress.withLock { $0.phase == .abandoned ? nil : $0.handler }?(state)
            guard ends else { return }
            handler = nil
            finally()
        }
        let (delivery, unheard) = progress.withLock { progress -> (SharedDelivery?, [@Sendable () -> Void]) in
            guard progress.phase == .running else { return (nil, []) }
            progress.state = state
            if ends { progress.phase = .ended }
            if let delivery = progress.delivery { return (delivery.add(.call(report)) ? delivery : nil, []) }
            guard ends else { return (nil, []) }
            defer { progress.waiting = [] }
            return (nil, progress.waiting + [{ [self] in handler = nil }, finally])
        }
        delivery?.dispatch()
        // The object has no queue, and none will be set. So run the waiting blocks on a global queue.
        guard !unheard.isEmpty else { return }
        DispatchQueue.global().async { for body in unheard { body() } }
    }
}
