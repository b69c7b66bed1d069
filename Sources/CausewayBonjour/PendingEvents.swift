/// A discovery event for the program. Events are delivered in order.
protocol DiscoveryEvent: Hashable, Sendable {
    /// Whether a new event replaces all queued events, because only the latest event matters.
    static var isLatestOnly: Bool { get }
    /// The reverse event, for example a removal for an addition. If it is still queued when this event occurs, both events are dropped.
    var opposite: Self? { get }
}

/// Events queued for the program.
///
/// If an item, such as a service or a record, is added and then removed before the program has read the addition, both
/// events are dropped. Therefore the queue has at most one event per item, and a host that repeatedly adds and removes
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
