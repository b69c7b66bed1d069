/// The common interface of state machines without I/O. ARCHITECTURE.md lists the laws that these machines obey.
///
/// A machine's driver is the code that does the I/O. It reports events, performs the resulting actions in order, and
/// calls ``takeActions(dueAt:)`` at ``deadline``. Times are measured from a fixed instant that the driver chooses. Each
/// conforming type needs a `MachineTrial`; `Scripts/check-machines` checks this.
package protocol StateMachine: ~Copyable {
    associatedtype Action

    /// Whether the machine has ended and ignores all later events. Its final action may still be queued. Always `false`
    /// if the machine never ends.
    var hasEnded: Bool { get }
    /// The time at which the owner must call ``takeActions(dueAt:)``. `nil` if the state machine is not waiting for a
    /// time.
    var deadline: Duration? { mutating get }

    /// Advances the machine's time to `now`. Removes and returns the actions that are due. Early, late and repeated
    /// calls are harmless.
    mutating func takeActions(dueAt now: Duration) -> [Action]
}

/// A state machine without a deadline. Its event methods return all actions.
package protocol UntimedMachine: StateMachine, ~Copyable {}

extension UntimedMachine where Self: ~Copyable {
    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Action] { [] }
}

/// A state machine whose event methods return the actions that they cause. The method ``advance(to:)`` works in the
/// same way.
package protocol ReturningMachine: StateMachine, ~Copyable {
    /// Advances the machine's time to `now` and returns the actions that are due.
    mutating func advance(to now: Duration) -> [Action]
}

extension ReturningMachine where Self: ~Copyable {
    package mutating func takeActions(dueAt now: Duration) -> [Action] { advance(to: now) }
}

/// A state machine that puts its actions into a queue. ``takeActions()`` removes and returns them.
package protocol QueueingMachine: StateMachine, ~Copyable {
    /// Advances the machine's time to `now`. Adds all actions that are due by then to the queue.
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
