/// A queue of actions that keeps them in order and lets only one thread at a time perform them.
///
/// The order matters: for example "open" must not overtake "close". If no other thread is performing actions, the thread that adds an
/// action must perform actions until the queue is empty; all other threads only add to the queue. The queue is protected by the same lock
/// as the state machine. The type is `public` only because the compiler does not specialize `package` types across modules.
@frozen public struct ActionLine<Action: Sendable>: Sendable {
    /// The added actions. The first call of `add` stores its argument without a copy, because most state machines are idle again before
    /// the next call.
    @usableFromInline var actions: [Action] = []
    /// The number of removed actions of `actions`.
    @usableFromInline var position: Int32 = 0
    @usableFromInline var isPerforming = false

    /// Creates an empty queue.
    @inlinable public init() {}

    /// Adds actions. Returns whether the caller must perform them.
    @inlinable public mutating func add(_ added: [Action]) -> Bool {
        if actions.isEmpty { actions = added } else { actions.append(contentsOf: added) }
        guard !isPerforming, !actions.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// Removes and returns the next action. If the result is `nil`, the caller must stop performing actions.
    @inlinable public mutating func next() -> Action? {
        guard Int(position) < actions.count else {
            isPerforming = false
            // Release the storage, because most state machines are idle after their first actions.
            actions = []
            position = 0
            return nil
        }
        defer { position += 1 }
        return actions[Int(position)]
    }
}
