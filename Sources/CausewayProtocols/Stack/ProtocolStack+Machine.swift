internal import CausewayTypes

extension ProtocolStack: StateMachine {
    package typealias Action = Event

    /// Returns all pending events.
    ///
    /// The event ``Event/failed(_:)`` or ``Event/closed`` reports the end of the whole stack. A single stage may still
    /// report events afterwards, for example a framer that still encodes output.
    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        advance(to: now)
        var events: [Event] = []
        while let event = nextEvent(at: now) { events.append(event) }
        return events
    }
}
