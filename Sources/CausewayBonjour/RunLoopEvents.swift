internal import Causeway
internal import CausewayStreams
internal import CausewaySystem
internal import Foundation

/// A service's or browser's events queued for delivery in a run loop.
///
/// Events may be added on any thread. They are delivered in order, on the threads of the run loops. If the service or browser has been
/// released by then, its events are dropped.
final class RunLoopEvents<Object: AnyObject>: Sendable {
    typealias Event = @Sendable (_ object: Unchecked<Object>, _ moreComing: Bool) -> Void

    private struct WeakObject { weak var object: Object? }

    private struct State: Sendable {
        var events: [Event] = []
        var places: [RunLoopPlace] = []
    }

    /// The service or browser. Used only on the threads of the run loops.
    private let object: Unchecked<WeakObject>
    private let state = LockedValue(State())

    init(_ object: Object) { self.object = Unchecked(WeakObject(object: object)) }

    func add(_ event: @escaping Event) { add([event]) }

    /// Adds events that belong together. All events except the final event are delivered with `moreComing` set.
    func add(_ events: [Event]) {
        let places = state.withLock { state in
            state.events += events
            return state.places
        }
        for place in places { place.wake() }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        let place = RunLoopPlace(loop, mode) { [weak self] in self?.tell() }
        let hasEvents = state.withLock { state in
            state.places.append(place)
            return !state.events.isEmpty
        }
        if hasEvents { place.wake() }
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
        let removed = state.withLock { state in state.places.take(in: loop, mode) }
        for place in removed { place.end() }
    }

    func end() {
        let places = state.withLock { state in
            defer { state = State() }
            return state.places
        }
        for place in places { place.end() }
    }

    private func tell() {
        while let object = object.value.object {
            let (event, moreComing) = state.withLock { state -> (Event?, Bool) in
                guard !state.events.isEmpty else { return (nil, false) }
                return (state.events.removeFirst(), !state.events.isEmpty)
            }
            guard let event else { return }
            event(Unchecked(object), moreComing)
        }
    }
}
