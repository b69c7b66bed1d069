public import CausewayMarkup
internal import CausewayTypes
public import CausewayURLLoading
public import Foundation

/// Fetches a feed once or repeatedly.
///
/// ```swift
/// let reader = FeedReader(url: url)
/// for item in try await reader.load().feed?.items ?? [] { print(item.title?.plainText ?? "") }
/// for try await item in reader.updates() { print("new:", item.title?.plainText ?? "") }
/// ```
///
/// The session follows redirects and decodes compressed content. The document is parsed as it arrives and is not
/// stored.
public struct FeedReader: Sendable {
    /// Reader options.
    public struct Options: Hashable, Sendable {
        /// Limits for the feed's cost.
        public var limits = FeedLimits()
        /// Maximum document size in bytes after decompression. A longer document is an error.
        public var maximumByteCount = 64 * 1024 * 1024
        /// The interval between fetches in ``FeedReader/updates()``, unless the feed or the server requests a longer
        /// one.
        public var interval: Duration = .seconds(15 * 60)
        /// Whether ``FeedReader/updates()`` returns the items in the first fetch. Otherwise it returns only items that
        /// appear later.
        public var includesPresentItems = false

        /// Creates the default options.
        public init() {}
    }

    /// Fetches a response and parses the feed in it. Replaceable in tests.
    typealias Fetch = @Sendable (URLRequest, Options) async throws -> FeedFetch

    /// The feed's URL.
    public let url: URL
    /// The options.
    public let options: Options
    private let fetch: Fetch

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - url: The feed's URL.
    ///   - session: The session for the fetches.
    ///   - options: The options.
    public init(url: URL, session: URLSession = .shared, options: Options = Options()) {
        self.init(url: url, options: options) { try await FeedFetch.fetch($0, $1, session: session) }
    }

    init(url: URL, options: Options, fetch: @escaping Fetch) {
        self.url = url
        self.options = options
        self.fetch = fetch
    }

    /// Fetches the feed once.
    ///
    /// - Parameter validators: The validators from an earlier response. If the feed has not changed since, the result
    ///   has no feed.
    /// - Returns: The feed, and the validators and waiting times for the next fetch.
    /// - Throws: `FeedError` if the server responds with an error or the document is not a feed; `URLError` if the
    ///   fetch fails.
    ///
    /// Cancellation: ends the fetch and throws. Nothing is kept.
    public func load(validators: FeedValidators = FeedValidators()) async throws -> FeedResponse {
        let answer = try await answer(url, validators)
        guard answer.feed != nil || answer.status == 304 else { throw answer.failure }
        return answer.response(otherwise: validators)
    }

    /// Follows the feed.
    ///
    /// - Returns: The new items, the oldest in each fetch first. Between fetches, the sequence waits as long as the
    ///   feed (`ttl`, `skipHours`, `skipDays`, `sy:updatePeriod`) and the server (`max-age`, `Retry-After`) request;
    ///   after a failure it waits longer. The sequence ends when the feed is gone (status 410), and throws if the first
    ///   fetch fails.
    ///
    /// Cancellation: ends the sequence.
    public func updates() -> FeedUpdates { FeedUpdates(reader: self) }

    func answer(_ url: URL, _ validators: FeedValidators) async throws -> FeedFetch {
        // Bypass the cache, which would hide status 304 from the reader. The reader adds the validators to the request.
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue(
            "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.1",
            forHTTPHeaderField: "Accept")
        validators.add(to: &request)
        return try await fetch(request, options)
    }
}

/// The result of one request.
struct FeedFetch: Sendable {
    var status = 200
    var url: URL
    /// The response header fields, by name in lower case.
    var fields: [String: String] = [:]
    var feed: Feed?

    /// The error for a response without a feed.
    var failure: FeedError { FeedError(.status, "the server answered with status \(status)", status: status) }

    /// How long copies may be used (`Cache-Control: max-age`).
    var maximumAge: Duration? {
        for directive in (fields["cache-control"] ?? "").split(separator: ",") {
            let pair = directive.split(separator: "=").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
            }
            if pair.count == 2, pair[0].lowercased() == "max-age", let seconds = Int64(digits: pair[1]) {
                return .seconds(min(seconds, 31_536_000))
            }
        }
        return nil
    }

    /// How long to wait before the next request (`Retry-After`). If the value is a date, the wait is the time from the
    /// response's `Date` to that date.
    var retryAfter: Duration? {
        guard let field = fields["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int64(digits: field) { return .seconds(min(seconds, 31_536_000)) }
        guard let end = FeedDate(field).date, let start = fields["date"].flatMap({ FeedDate($0).date }) else {
            return nil
        }
        return .seconds(min(max(0, end.timeIntervalSince(start)), 31_536_000))
    }

    func response(otherwise validators: FeedValidators) -> FeedResponse {
        var next = FeedValidators(entityTag: fields["etag"], lastModified: fields["last-modified"])
        // A 304 response need not repeat the validators. If the response has none, keep the earlier validators.
        if status == 304, next == FeedValidators() { next = validators }
        return FeedResponse(feed: feed, validators: next, url: url, maximumAge: maximumAge, retryAfter: retryAfter)
    }

    /// Sends a request and parses the response content.
    static func fetch(_ request: URLRequest, _ options: FeedReader.Options, session: URLSession) async throws
        -> FeedFetch
    {
        let (bytes, response) = try await session.bytes(for: request)
        guard let answer = response as? HTTPURLResponse else {
            return try await parse(
                bytes, FeedFetch(url: response.url ?? request.url ?? URL(fileURLWithPath: "/")), options)
        }
        var result = FeedFetch(status: answer.statusCode, url: answer.url ?? request.url ?? URL(fileURLWithPath: "/"))
        for (name, value) in answer.allHeaderFields {
            if let name = name as? String, let value = value as? String { result.fields[name.lowercased()] = value }
        }
        guard (200...299).contains(result.status) else {
            bytes.task.cancel()
            return result
        }
        return try await parse(bytes, result, options)
    }

    private static func parse(_ bytes: URLSession.AsyncBytes, _ fetch: FeedFetch, _ options: FeedReader.Options)
        async throws -> FeedFetch
    {
        var result = fetch
        let source = FeedSource(
            address: fetch.url.absoluteString, contentType: fetch.fields["content-type"],
            contentLocation: fetch.fields["content-location"],
            contentLanguage: fetch.fields["content-language"])
        var parser = FeedParser(source: source, limits: options.limits)
        var piece: [UInt8] = []
        var count = 0
        for try await byte in bytes {
            piece.append(byte)
            guard piece.count == 16 * 1024 else { continue }
            count += piece.count
            guard count <= options.maximumByteCount else {
                bytes.task.cancel()
                throw tooLarge(options)
            }
            parser.append(piece)
            piece.removeAll(keepingCapacity: true)
            if parser.hasReachedLimit {
                bytes.task.cancel()
                break
            }
        }
        guard count + piece.count <= options.maximumByteCount else { throw tooLarge(options) }
        parser.append(piece)
        result.feed = try parser.finish()
        return result
    }

    private static func tooLarge(_ options: FeedReader.Options) -> FeedError {
        FeedError(.tooLarge, "the document has more than \(options.maximumByteCount) bytes")
    }
}
