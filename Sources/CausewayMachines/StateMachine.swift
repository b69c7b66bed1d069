/// The common shape of state machines without I/O, whose laws are in ARCHITECTURE.md.
///
/// The owner reports events, performs the resulting actions in order, and calls ``takeActions(dueAt:)`` at ``deadline``. Times are measured
/// from any fixed instant. A type that conforms needs a `MachineTrial`, as `Scripts/check-machines` checks.
package protocol StateMachine: ~Copyable {
    associatedtype Action

    /// Whether the machine has ended. It ignores all later events; its last action may still be queued. `false` for a machine without an end.
    var hasEnded: Bool { get }
    /// The time at which to call ``takeActions(dueAt:)``; `nil` if the machine awaits no time.
    var deadline: Duration? { mutating get }

    /// Advances the time, and removes and returns the actions that are due. Early, late and repeated calls are harmless.
    mutating func takeActions(dueAt now: Duration) -> [Action]
}

/// A machine whose events return all actions, and that awaits no time.
package protocol UntimedMachine: StateMachine, ~Copyable {}

extension UntimedMachine where Self: ~Copyable {
    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Action] { [] }
}

/// A machine whose events, among them the passing of time, return their actions.
package protocol ReturningMachine: StateMachine, ~Copyable {
    /// Advances the time and returns the actions that are due.
    mutating func advance(to now: Duration) -> [Action]
}

extension ReturningMachine where Self: ~Copyable {
    package mutating func takeActions(dueAt now: Duration) -> [Action] { advance(to: now) }
}

/// A machine that queues the actions of its events until the owner takes them.
package protocol QueueingMachine: StateMachine, ~Copyable {
    /// Advances the time. The actions that are due are added to the queue.
    mutating func advance(to now: Duration)
    /// Removes and returns the queued actions.
    mutating func takeActions() -> [Action]
}

extension QueueingMachine where Self: ~Copyable {
    package mutating func takeActions(dueAt now: Duration) -> [Action] {
        advance(to: now)
        return takeActions()
    }
}
