/// Actions in the order of the transitions that asked for them, performed by one at a time.
///
/// Actions do not commute: "open" must not overtake "close". So whoever adds while nobody performs performs, until nothing is left;
/// everybody else leaves his behind the others'. Kept behind the lock under which the transitions happen.
package struct ActionLine<Action: Sendable>: Sendable {
    private var waiting = InlineFirstQueue<Action>()
    private var isPerforming = false

    package init() {}

    /// Returns whether the caller must perform from now on.
    package mutating func add(_ actions: [Action]) -> Bool {
        for action in actions { waiting.append(action) }
        guard !isPerforming, !waiting.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// The next action for whoever performs; `nil` ends his turn.
    package mutating func next() -> Action? {
        let action = waiting.popFirst()
        if action == nil { isPerforming = false }
        return action
    }
}
