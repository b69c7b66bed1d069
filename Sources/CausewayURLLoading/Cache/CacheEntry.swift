internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// A stored response, and the values that decide whether it can be used again. This type is a class, because each cache
/// lookup copies a value of this type several times.
final class CacheEntry: Sendable {
    /// The response for the program, without header fields that must not be stored or reused.
    let response: CachedURLResponse
    /// The stored head of an HTTP response; `nil` for other responses.
    let head: StoredResponse?
    let stored: Date

    /// Whether the stored content is only a part of the representation.
    var isPartial: Bool { head?.part != nil }

    init(response: CachedURLResponse, head: StoredResponse?, stored: Date) {
        self.response = response
        self.head = head
        self.stored = stored
    }

    /// Creates an entry from a response and the request that it answers. Returns `nil` for a partial response if its
    /// position in the content is unknown.
    init?(_ cached: CachedURLResponse, exchange: CacheExchange, at now: Date) {
        stored = now
        guard let http = cached.response as? HTTPURLResponse else {
            (response, head) = (cached, nil)
            return
        }
        var head = exchange.head(of: http)
        guard head.notePart(of: exchange.fields, count: cached.data.count) else { return nil }
        response = Self.response(cached, http, head.usableFields)
        self.head = head
    }

    /// Returns a cached response with the given header fields. Returns the same object if it already has these fields.
    private static func response(
        _ cached: CachedURLResponse, _ http: HTTPURLResponse, _ fields: FieldSection
    ) -> CachedURLResponse {
        guard fields != http.fields else { return cached }
        return CachedURLResponse(
            response: http.copy(status: http.statusCode, fields: fields), data: cached.data, userInfo: cached.userInfo,
            storagePolicy: cached.storagePolicy)
    }

    /// Returns the entry updated with the fields of a 304 response that confirms it (RFC 9111 §4.3.4).
    func freshened(with update: FieldSection, requestTime: Int, responseTime: Int, at now: Date) -> CacheEntry {
        guard var head, let http = response.response as? HTTPURLResponse else { return self }
        head.freshen(with: update, requestTime: requestTime, responseTime: responseTime)
        return CacheEntry(response: Self.response(response, http, head.usableFields), head: head, stored: now)
    }

    /// Combines a partial entry with the content of older partial entries for its URL (RFC 9111 §3.4). Returns other
    /// entries unchanged.
    ///
    /// - Parameters:
    ///   - older: The URL's entries.
    ///   - limit: The maximum size of the combined content in bytes.
    func combined(with older: [CacheEntry], limit: Int) -> CacheEntry {
        older.reduce(self) { $0.combined(with: $1, limit: limit) ?? $0 }
    }

    private func combined(with older: CacheEntry, limit: Int) -> CacheEntry? {
        guard let head, let olderHead = older.head, let combination = head.combination(with: olderHead),
            let http = response.response as? HTTPURLResponse,
            combination.before + response.data.count + combination.after <= limit
        else { return nil }
        let data =
            older.response.data.prefix(combination.before) + response.data
            + older.response.data.suffix(combination.after)
        let combined = CachedURLResponse(
            response: http.copy(status: combination.head.status, fields: combination.head.usableFields), data: data,
            userInfo: response.userInfo, storagePolicy: response.storagePolicy)
        return CacheEntry(response: combined, head: combination.head, stored: stored)
    }

    /// The number of bytes that the entry counts towards the limits of the memory cache and of the pending disk
    /// changes.
    var cost: Int {
        let fields = (response.response as? HTTPURLResponse)?.fields.byteCount ?? 0
        return response.data.count + fields + MemoryCache.overhead
    }
}

/// The request whose response may be stored, with the times of the exchange in seconds since 1970.
final class CacheExchange: Sendable {
    /// The header fields as they were sent.
    let fields: FieldSection
    let requestTime: Int
    let responseTime: Int
    /// The key under which the cache stores the response. `nil` if the cache must derive the key from the request.
    let key: MemoryCache.Key?

    init(fields: FieldSection, requestTime: Int, responseTime: Int, key: MemoryCache.Key? = nil) {
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.key = key
    }

    /// Returns the current time in seconds since 1970.
    static var now: Int { Int(Date().timeIntervalSince1970) }

    /// Returns a response's stored head.
    func head(of response: HTTPURLResponse) -> StoredResponse {
        StoredResponse(
            status: response.statusCode, fields: response.fields, request: fields, requestTime: requestTime,
            responseTime: responseTime)
    }
}
