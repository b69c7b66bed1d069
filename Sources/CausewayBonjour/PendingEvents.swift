/// An event for the program. Events are delivered in order.
protocol DiscoveryEvent: Hashable, Sendable {
    /// Whether only the latest event matters, so that earlier ones are dropped.
    static var isLatestOnly: Bool { get }
    /// The event with the opposite meaning. If that event still waits for the program when this event occurs, both events are dropped.
    var opposite: Self? { get }
}

/// Events that wait for the program.
///
/// If an item is added and removed before the program reads the first of the two events, both events are dropped. Therefore the queue is
/// never longer than the current set of items: a host that repeatedly adds and removes services cannot fill the memory.
struct PendingEvents<News: DiscoveryEvent>: Sendable {
    private var items: [UInt64: News] = [:]
    private var serials: [News: UInt64] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    init() {}

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ news: News) {
        if News.isLatestOnly { self = PendingEvents() }
        if let opposite = news.opposite, let serial = serials.removeValue(forKey: opposite) {
            items[serial] = nil
            return
        }
        guard serials[news] == nil else { return }
        items[next] = news
        serials[news] = next
        next += 1
    }

    /// Removes and returns the oldest event, and whether more events are waiting.
    mutating func take() -> (news: News, moreComing: Bool)? {
        while first < next {
            defer { first += 1 }
            guard let news = items.removeValue(forKey: first) else { continue }
            serials[news] = nil
            return (news, !items.isEmpty)
        }
        return nil
    }
}
