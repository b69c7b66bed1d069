internal import CausewayImageFormats
internal import CausewaySystem

/// A priority that can change while the work that depends on it is in progress. Observers are notified of each change.
final class PriorityCell: Sendable {
    private struct State {
        var value: ImagePriority
        var observers: [UInt64: @Sendable (ImagePriority) -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state: LockedValue<State>

    init(_ value: ImagePriority) { state = LockedValue(State(value: value)) }

    /// The current priority.
    var value: ImagePriority { state.withLock { $0.value } }

    func set(_ value: ImagePriority) {
        let observers = state.withLock { state -> [@Sendable (ImagePriority) -> Void] in
            guard state.value != value else { return [] }
            state.value = value
            return Array(state.observers.values)
        }
        for observer in observers { observer(value) }
    }

    /// Calls a closure at each change, until the returned number is passed to ``remove(_:)``.
    func observe(_ body: @escaping @Sendable (ImagePriority) -> Void) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = body
            return state.last
        }
    }

    func remove(_ observer: UInt64) { state.withLock { $0.observers[observer] = nil } }
}
