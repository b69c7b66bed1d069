internal import CausewayRuntime
internal import CausewaySystem
internal import Dispatch

/// The state of an object that reports to the program's queue: each change once, in order, the last one last.
///
/// What is reported is whatever the handler is at that moment; handlers are called without a lock held. Blocks given to
/// ``call(_:)`` before there is a queue wait for it.
final class QueuedState<State: Sendable>: Sendable {
    /// Called at each change.
    typealias Handler = @Sendable (State) -> Void

    private struct Progress {
        var state: State
        var handler: Handler?
        var queue: DispatchQueue?
        var delivery: SharedDelivery?
        var waiting: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    private let progress: LockedValue<Progress>

    init(_ state: State) {
        progress = LockedValue(Progress(state: state))
    }

    /// The current state. Readable from any thread.
    var current: State { progress.withLock { $0.state } }

    /// The queue of ``start(on:)``; `nil` before.
    var queue: DispatchQueue? { progress.withLock { $0.queue } }

    /// Whether ``end(in:finally:)`` was called.
    var hasEnded: Bool { progress.withLock { $0.hasEnded } }

    /// Called at each change, until the end.
    var handler: Handler? {
        get { progress.withLock { $0.handler } }
        set {
            // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
            let old = progress.withLock { progress in
                defer { progress.handler = newValue }
                return progress.handler
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Takes the queue of all callbacks, and calls what waited for it.
    ///
    /// - Returns: `false` at all calls but the first one, and after the end.
    func start(on queue: DispatchQueue) -> Bool {
        let delivery = SharedDelivery.on(queue)
        let began = progress.withLock { progress in
            guard progress.delivery == nil, !progress.hasEnded else { return (isFirst: false, dispatches: false) }
            progress.queue = queue
            progress.delivery = delivery
            let waiting = progress.waiting
            progress.waiting = []
            return (true, waiting.reduce(false) { delivery.add(.call($1)) || $0 })
        }
        if began.dispatches { delivery.dispatch() }
        return began.isFirst
    }

    /// Goes to another state and reports it. Without effect after the end.
    func move(to state: State) {
        change(to: state, ends: false) {}
    }

    /// Goes to the last state, reports it, and lets go of the handler.
    ///
    /// - Parameter finally: Called after the report, on the queue; at once if there is none.
    func end(in state: State, finally: @escaping @Sendable () -> Void = {}) {
        change(to: state, ends: true, finally)
    }

    /// Lets go of the handler, and reports nothing any more.
    func abandon() {
        progress.withLock { $0.hasEnded = true }
        handler = nil
    }

    /// Calls a block on the queue, after everything before it. Before there is a queue the block waits for one.
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
            handler?(state)
            guard ends else { return }
            handler = nil
            finally()
        }
        let (delivery, unheard) = progress.withLock { progress -> (SharedDelivery?, [@Sendable () -> Void]) in
            guard !progress.hasEnded else { return (nil, []) }
            progress.state = state
            progress.hasEnded = ends
            if let delivery = progress.delivery { return (delivery.add(.call(report)) ? delivery : nil, []) }
            guard ends else { return (nil, []) }
            defer { progress.waiting = [] }
            return (nil, progress.waiting + [{ [self] in handler = nil }, finally])
        }
        delivery?.dispatch()
        // Nobody named a queue, and nobody will: what waited for one is called on a global one.
        guard !unheard.isEmpty else { return }
        DispatchQueue.global().async { for body in unheard { body() } }
    }
}
