internal import CausewayTypes

extension ProtocolStack: StateMachine {
    package typealias Action = Event

    /// The stack ends with ``Event/failed(_:)`` or ``Event/closed``. Stage events may follow, for example from a framer
    /// that still encodes output.
    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        advance(to: now)
        var events: [Event] = []
        while let event = nextEvent(at: now) { events.append(event) }
        return events
    }
}
