internal import CausewayMachines

extension ProtocolStack: StateMachine {
    package typealias Action = Event

    /// The end is ``Event/failed(_:)`` or ``Event/closed``. Stage events may follow it, for example of a framer that encodes the remaining output.
    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        advance(to: now)
        var events: [Event] = []
        while let event = nextEvent(at: now) { events.append(event) }
        return events
    }
}
