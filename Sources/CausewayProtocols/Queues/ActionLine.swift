/// A queue of actions that keeps them in order and lets only one thread at a time perform them.
///
/// The order matters: for example "open" must not overtake "close". If no other thread is performing actions, the thread that adds an
/// action must perform actions until the queue is empty; all other threads only add to the queue. The queue is protected by the same lock
/// as the state machine.
package struct ActionLine<Action: Sendable>: Sendable {
    private var waiting = InlineFirstQueue<Action>()
    private var isPerforming = false

    package init() {}

    /// Adds actions. Returns whether the caller must perform them.
    package mutating func add(_ actions: [Action]) -> Bool {
        for action in actions { waiting.append(action) }
        guard !isPerforming, !waiting.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// Removes and returns the next action. If the result is `nil`, the caller must stop performing actions.
    package mutating func next() -> Action? {
        if let action = waiting.popFirst() { return action }
        isPerforming = false
        // Release the storage, because most state machines are idle after their first actions.
        waiting = InlineFirstQueue()
        return nil
    }
}
