/// The common interface of state machines without I/O. ARCHITECTURE.md lists the laws for these machines.
///
/// The owner reports events, performs the resulting actions in order, and calls ``takeActions(dueAt:)`` at
/// ``deadline``. Times are measured from any fixed instant. Each conforming type needs a `MachineTrial`;
/// `Scripts/check-machines` checks this.
package protocol StateMachine: ~Copyable {
    associatedtype Action

    /// Whether the machine has ended and ignores all later events; its final action may still be queued. `false` for a
    /// machine without an end.
    var hasEnded: Bool { get }
    /// The time at which to call ``takeActions(dueAt:)``; `nil` if the machine does not wait for a time.
    var deadline: Duration? { mutating get }

    /// Advances the time, and removes and returns the actions that are due. Early, late and repeated calls are harmless.
    mutating func takeActions(dueAt now: Duration) -> [Action]
}

/// A machine without a deadline. Its event methods return all actions.
package protocol UntimedMachine: StateMachine, ~Copyable {}

extension UntimedMachine where Self: ~Copyable {
    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Action] { [] }
}

/// A machine whose event methods return the resulting actions. ``advance(to:)`` is one of these methods.
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
