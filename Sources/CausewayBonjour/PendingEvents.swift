/// A discovery event for the program. Events are delivered in order.
protocol DiscoveryEvent: Hashable, Sendable {
    /// Whether only the latest event matters. If so, a new event replaces all queued events.
    static var isLatestOnly: Bool { get }
    /// The event that undoes this event. For example, a removal undoes an addition. If the other event is still queued
    /// when this event occurs, both are dropped.
    var opposite: Self? { get }
}

/// Events queued for the program.
///
/// An item, such as a service or a record, may be added and then removed before the program has read the addition. Both
/// events are then dropped. So the queue has at most one event per item. A host that repeatedly adds and removes
/// services cannot exhaust memory.
struct PendingEvents<Event: DiscoveryEvent>: Sendable {
    private var items: [UInt64: Event] = [:]
    private var serials: [Event: UInt64] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    init() {}

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ event: Event) {
        if Event.isLatestOnly { self = PendingEvents() }
        if let opposite = event.opposite, let serial = serials.removeValue(forKey: opposite) {
            items[serial] = nil
            return
        }
        guard serials[event] == nil else { return }
        items[next] = event
        serials[event] = next
        next += 1
    }

    /// Removes and returns the oldest event, and whether more events are waiting.
    mutating func take() -> (event: Event, moreComing: Bool)? {
        while first < next {
            defer { first += 1 }
            guard let event = items.removeValue(forKey: first) else { continue }
            serials[event] = nil
            return (event, !items.isEmpty)
        }
        return nil
    }
}
