internal import Causeway
internal import CausewayStreams
internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// Delivers the callbacks of a connection or download to its delegate, in order and one at a time. The callbacks run in
/// run loops, or on an operation queue, which need not be serial.
final class ConnectionEvents<Delegate>: Sendable {
    typealias Event = @Sendable (Delegate) -> Void

    private struct State {
        var events = Deque<Event>()
        var delegate: Unchecked<Delegate>?
        var places: [RunLoopPlace] = []
        var queue: OperationQueue?
        var hasEnded = false
        /// The thread currently running callbacks.
        var runner: ObjectIdentifier?
    }

    private let state: LockedValue<State>

    init(_ delegate: Delegate) {
        state = LockedValue(State(delegate: Unchecked(delegate)))
    }

    /// Whether a run loop or an operation queue is set.
    var hasPlace: Bool { state.withLock { !$0.places.isEmpty || $0.queue != nil } }

    /// Whether no more callbacks are delivered, because the final callback was delivered or the connection was
    /// cancelled.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Appends a callback.
    func add(_ event: @escaping Event) {
        let (places, queue) = state.withLock { state -> ([RunLoopPlace], OperationQueue?) in
            guard !state.hasEnded else { return ([], nil) }
            state.events.append(event)
            return (state.places, state.queue)
        }
        notify(places, queue)
    }

    /// Appends the final callback.
    func addLast(_ event: @escaping Event) {
        add { [self] delegate in
            end()
            event(delegate)
        }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        guard state.withLock({ $0.queue == nil && !$0.hasEnded }) else { return }
        let place = RunLoopPlace(loop, mode) { [self] in run() }
        let isWaiting = state.withLock { state in
            state.places.append(place)
            return !state.events.isEmpty
        }
        if isWaiting { place.wake() }
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
        let removed = state.withLock { state in state.places.take(in: loop, mode) }
        for place in removed { place.end() }
    }

    /// Uses an operation queue instead of run loops.
    func use(_ queue: OperationQueue?) {
        let (places, isWaiting) = state.withLock { state in
            defer {
                state.places = []
                state.queue = queue
            }
            return (state.places, !state.events.isEmpty)
        }
        for place in places { place.end() }
        if isWaiting { notify([], queue) }
    }

    /// Discards all pending callbacks and releases the delegate.
    func end() {
        let (places, delegate) = state.withLock { state in
            defer {
                state.hasEnded = true
                state.events = []
                state.places = []
                state.delegate = nil
            }
            return (state.places, state.delegate)
        }
        withExtendedLifetime(delegate) {}
        for place in places { place.end() }
    }

    private func notify(_ places: [RunLoopPlace], _ queue: OperationQueue?) {
        for place in places { place.wake() }
        queue?.addOperation { [self] in run() }
    }

    /// Runs callbacks until none is pending. Only one thread at a time runs callbacks. It also runs the callbacks that
    /// other threads have added. If a callback runs its thread's run loop, the next callbacks are delivered during that
    /// callback.
    private func run() {
        let current = ObjectIdentifier(Thread.current)
        let outer = state.withLock { $0.runner }
        guard outer == nil || outer == current else { return }
        while let (event, delegate) = next(for: current, isNested: outer != nil) { event(delegate.value) }
    }

    /// Returns the next callback for a thread; `nil` if there is none.
    ///
    /// After `nil`, other threads may run callbacks. The exception is a nested call, in which an outer callback still
    /// runs on this thread.
    private func next(for thread: ObjectIdentifier, isNested: Bool) -> (Event, Unchecked<Delegate>)? {
        state.withLock { state in
            guard state.runner == nil || state.runner == thread else { return nil }
            guard let delegate = state.delegate, let event = state.events.popFirst() else {
                if !isNested { state.runner = nil }
                return nil
            }
            state.runner = thread
            return (event, delegate)
        }
    }
}
