public import CausewayMarkup
internal import Foundation

/// A feed's new items. See ``FeedReader/updates()``.
public struct FeedUpdates: AsyncSequence, Sendable {
    /// An item.
    public typealias Element = FeedItem

    let reader: FeedReader
    /// Waits for a duration. Replaceable in tests.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Returns the current time. Replaceable in tests.
    var now: @Sendable () -> Date = { Date() }

    init(reader: FeedReader) { self.reader = reader }

    /// Returns an iterator, which starts with a fetch.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: self) }

    /// Fetches the feed and returns new items.
    public struct Iterator: AsyncIteratorProtocol {
        private let updates: FeedUpdates
        private var polling: FeedPolling
        private var validators = FeedValidators()
        private var url: URL
        private var waiting: ArraySlice<FeedItem> = []
        private var wait: Duration?
        private var isOver = false

        init(updates: FeedUpdates) {
            self.updates = updates
            url = updates.reader.url
            polling = FeedPolling(interval: updates.reader.options.interval)
        }

        /// Returns the next new item; `nil` when the feed is gone (status 410).
        ///
        /// Cancellation: throws `CancellationError`, or `URLError.cancelled` during a fetch.
        nonisolated(nonsending) public mutating func next() async throws -> FeedItem? {
            while !isOver {
                if let item = waiting.popFirst() { return item }
                if let wait { try await updates.sleep(wait) }
                try Task.checkCancellation()
                try await fetch()
            }
            return nil
        }

        /// Returns the next item like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> FeedItem? {
            try await next()
        }

        nonisolated(nonsending) private mutating func fetch() async throws {
            let isFirst = wait == nil
            do {
                let answer = try await updates.reader.answer(url, validators)
                if answer.status == 410 { return isOver = true }
                guard answer.feed != nil || answer.status == 304 else {
                    if isFirst { throw answer.failure }
                    return wait = polling.waitAfterFailure(retryAfter: answer.retryAfter)
                }
                take(answer)
            } catch {
                // A failure of the first fetch ends the sequence, and so does cancellation. Other failures may be
                // temporary, for example because the network is down. After them, the feed is fetched again.
                if isFirst || Task.isCancelled { throw error }
                wait = polling.waitAfterFailure(retryAfter: nil)
            }
        }

        private mutating func take(_ answer: FeedFetch) {
            let response = answer.response(otherwise: validators)
            validators = response.validators
            if let feed = answer.feed {
                let options = updates.reader.options
                waiting = polling.received(feed, includesPresentItems: options.includesPresentItems)[...]
                if let address = feed.newLocation, let moved = URL(string: address),
                    ["http", "https"].contains(moved.scheme?.lowercased()),
                    moved != url
                {
                    url = moved
                    validators = FeedValidators()
                }
            }
            wait = polling.waitAfterSuccess(
                maximumAge: answer.maximumAge, retryAfter: answer.retryAfter, now: updates.now())
        }
    }
}
