internal import Causeway
internal import CausewayStreams
internal import CausewaySystem
internal import Foundation

/// What a service or a browser has to tell, until a run loop in which it is scheduled takes it.
///
/// Events come from any thread; they are told in their order, in the run loops' threads, to an object that may be gone by then.
final class RunLoopEvents<Object: AnyObject>: Sendable {
    typealias Event = @Sendable (_ object: Unchecked<Object>, _ moreComing: Bool) -> Void

    private struct WeakObject { weak var object: Object? }

    private struct State: Sendable {
        var events: [Event] = []
        var places: [RunLoopPlace] = []
    }

    /// Touched in the run loops' threads, as the object itself.
    private let object: Unchecked<WeakObject>
    private let state = LockedValue(State())

    init(_ object: Object) { self.object = Unchecked(WeakObject(object: object)) }

    func add(_ event: @escaping Event) { add([event]) }

    /// Adds events that belong together: all but the last are told with more to come.
    func add(_ events: [Event]) {
        let places = state.withLock { state in
            state.events += events
            return state.places
        }
        for place in places { place.wake() }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        let place = RunLoopPlace(loop, mode) { [weak self] in self?.tell() }
        let hasNews = state.withLock { state in
            state.places.append(place)
            return !state.events.isEmpty
        }
        if hasNews { place.wake() }
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
        let removed = state.withLock { state in
            let removed = state.places.filter { $0.isIn(loop, mode) }
            state.places.removeAll { $0.isIn(loop, mode) }
            return removed
        }
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
