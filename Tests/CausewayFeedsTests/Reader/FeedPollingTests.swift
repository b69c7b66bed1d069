import CausewayMarkup
import Foundation
import Testing

@testable import CausewayFeeds

@Suite("When a feed is fetched again")
struct FeedPollingTests {
    private static func feed(_ ids: [String], _ change: (inout Feed) -> Void = { _ in }) -> Feed {
        var feed = Feed()
        feed.items = ids.map { id in
            var item = FeedItem()
            item.id = id
            return item
        }
        change(&feed)
        return feed
    }

    @Test("New items are returned once, the oldest first")
    func newItems() {
        var polling = FeedPolling(interval: .seconds(60))
        #expect(polling.received(Self.feed(["2", "1"]), includesPresentItems: true).map(\.id) == ["1", "2"])
        #expect(polling.received(Self.feed(["4", "3", "2", "1"]), includesPresentItems: true).map(\.id) == ["3", "4"])
        var other = FeedPolling(interval: .seconds(60))
        #expect(other.received(Self.feed(["1"]), includesPresentItems: false).isEmpty)
        #expect(other.received(Self.feed(["2", "1"]), includesPresentItems: false).map(\.id) == ["2"])
    }

    @Test("The longest of interval, ttl, max-age and Retry-After counts")
    func longest() {
        let noon = Date(timeIntervalSince1970: 12 * 3600)
        var polling = FeedPolling(interval: .seconds(60))
        #expect(polling.waitAfterSuccess(maximumAge: nil, retryAfter: nil, now: noon) == .seconds(60))
        #expect(polling.waitAfterSuccess(maximumAge: .seconds(90), retryAfter: nil, now: noon) == .seconds(90))
        #expect(
            polling.waitAfterSuccess(maximumAge: .seconds(90), retryAfter: .seconds(100), now: noon) == .seconds(100))
        _ = polling.received(Self.feed([]) { $0.schedule.minutesToLive = 5 }, includesPresentItems: true)
        #expect(polling.waitAfterSuccess(maximumAge: .seconds(90), retryAfter: nil, now: noon) == .seconds(300))
        #expect(
            polling.waitAfterSuccess(maximumAge: .seconds(31_536_000), retryAfter: nil, now: noon)
                == FeedPolling.maximumWait)
    }

    @Test("A fetch is not due in a skipped hour or on a skipped day")
    func skipped() {
        var polling = FeedPolling(interval: .seconds(3600))
        _ = polling.received(Self.feed([]) { $0.schedule.skippedHours = [13, 14] }, includesPresentItems: true)
        let noon = Date(timeIntervalSince1970: 12 * 3600 + 600)
        #expect(polling.waitAfterSuccess(maximumAge: nil, retryAfter: nil, now: noon) == .seconds(3 * 3600 - 600))
        // The feed skips two days. They are Thursday, 1 January 1970, and the Friday after it.
        _ = polling.received(Self.feed([]) { $0.schedule.skippedDays = [5, 6] }, includesPresentItems: true)
        #expect(
            polling.waitAfterSuccess(maximumAge: nil, retryAfter: nil, now: noon)
                == .seconds(2 * 86_400 - 12 * 3600 - 600))
        _ = polling.received(
            Self.feed([]) { $0.schedule.skippedDays = [1, 2, 3, 4, 5, 6, 7] }, includesPresentItems: true)
        #expect(polling.waitAfterSuccess(maximumAge: nil, retryAfter: nil, now: noon) == .seconds(3600))
    }

    @Test("Failures double the wait up to a day, a success ends that")
    func failures() {
        var polling = FeedPolling(interval: .seconds(600))
        let waits = (0..<9).map { _ in polling.waitAfterFailure(retryAfter: nil) }
        #expect(waits.prefix(3) == [.seconds(1200), .seconds(2400), .seconds(4800)])
        #expect(waits.last == .seconds(86_400))
        _ = polling.waitAfterSuccess(maximumAge: nil, retryAfter: nil, now: Date(timeIntervalSince1970: 0))
        #expect(polling.waitAfterFailure(retryAfter: .seconds(5000)) == .seconds(5000))
    }
}
