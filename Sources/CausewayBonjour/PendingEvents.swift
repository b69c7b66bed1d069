/// Something that a program is told of, one after the other.
protocol DiscoveryEvent: Hashable, Sendable {
    /// Whether only the latest counts, whatever came before.
    static var isLatestOnly: Bool { get }
    /// What this takes back, if that has not been told yet.
    var opposite: Self? { get }
}

/// News that wait for a program to take them.
///
/// What came and went before the program looked is not told at all (so a slow program sees no flicker), and what waits is never
/// more than what there is: a host that makes up services and takes them back fills no memory.
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

    /// The oldest, and whether more wait behind it.
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
