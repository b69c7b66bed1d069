internal import CausewayMarkup
internal import Foundation

/// Decides when to fetch a feed again, and which items are new. Performs no I/O and reads no clock.
struct FeedPolling: Sendable {
    private let interval: Duration
    /// Hashes of the identities of items that were already seen. Only hashes are stored, because identities can be
    /// long. The hash seed is random, so that a feed cannot cause collisions on purpose.
    private var seen: Set<Int> = []
    private var order: [Int] = []
    private var failures = 0
    private var schedule = FeedSchedule()
    private var isFirst = true

    /// Maximum number of item identities to keep. Older identities are discarded.
    static let maximumSeen = 50_000
    /// The longest wait, even if a feed or server requests a longer wait.
    static let maximumWait: Duration = .seconds(7 * 86_400)

    init(interval: Duration) { self.interval = max(interval, .seconds(1)) }

    /// Records a fetched feed. Returns its items that were not seen before, the oldest first.
    mutating func received(_ feed: Feed, includesPresentItems: Bool) -> [FeedItem] {
        schedule = feed.schedule
        let fresh = feed.items.filter { remember($0.identity) }
        defer { isFirst = false }
        return isFirst && !includesPresentItems ? [] : fresh.reversed()
    }

    private mutating func remember(_ identity: String) -> Bool {
        let value = identity.hashValue
        guard seen.insert(value).inserted else { return false }
        order.append(value)
        if order.count > Self.maximumSeen {
            for old in order.prefix(Self.maximumSeen / 10) { seen.remove(old) }
            order.removeFirst(Self.maximumSeen / 10)
        }
        return true
    }

    /// Returns how long to wait after a successful fetch, with or without changes.
    mutating func waitAfterSuccess(maximumAge: Duration?, retryAfter: Duration?, now: Date) -> Duration {
        failures = 0
        var wait = max(interval, maximumAge ?? .zero, retryAfter ?? .zero)
        if let minutes = schedule.minutesToLive { wait = max(wait, .seconds(minutes * 60)) }
        if let minutes = schedule.periodInMinutes { wait = max(wait, .seconds(min(minutes, 1440) * 60)) }
        return min(afterSkipped(wait, now: now), Self.maximumWait)
    }

    /// Returns how long to wait after a failure. The wait doubles with each failure in a row, up to a day.
    mutating func waitAfterFailure(retryAfter: Duration?) -> Duration {
        failures = min(failures + 1, 10)
        let wait = min(interval * (1 << failures), .seconds(86_400))
        return min(max(wait, interval, retryAfter ?? .zero), Self.maximumWait)
    }

    /// Extends a wait that would end in an hour or on a day that the feed excludes (`skipHours`, `skipDays`).
    private func afterSkipped(_ wait: Duration, now: Date) -> Duration {
        guard schedule.skippedHours.count < 24, schedule.skippedDays.count < 7 else { return wait }
        let start = now.timeIntervalSince1970 + wait / .seconds(1)
        var end = start
        // At least one hour of the day and one day of the week are not skipped. A week has 168 hours, so this loop
        // always finds an hour that is not skipped.
        for _ in 0..<169 {
            let hours = Int((end / 3600).rounded(.down))
            let days = Int((end / 86_400).rounded(.down))
            // 1970-01-01 was a Thursday. Thursday is day 5 of `skippedDays`.
            let day = ((days + 4) % 7 + 7) % 7 + 1
            guard schedule.skippedHours.contains((hours % 24 + 24) % 24) || schedule.skippedDays.contains(day) else {
                break
            }
            end = Double(hours + 1) * 3600
        }
        return wait + .seconds(end - start)
    }
}
