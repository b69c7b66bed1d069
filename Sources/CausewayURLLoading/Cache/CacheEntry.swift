internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// A stored response with the facts that decide about its reuse. An object, because each request that asks the cache copies it several times.
final class CacheEntry: Sendable {
    /// The response for the program, without fields that must not be stored or reused.
    let response: CachedURLResponse
    /// The facts of an HTTP response; `nil` for other responses.
    let head: StoredResponse?
    let stored: Date

    /// Whether the content is a part of a representation.
    var isPartial: Bool { head?.part != nil }

    init(response: CachedURLResponse, head: StoredResponse?, stored: Date) {
        self.response = response
        self.head = head
        self.stored = stored
    }

    /// Creates an entry for a response and the fields of its request.
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

    /// Returns a cached response with these fields, or the same object if it has them.
    private static func response(
        _ cached: CachedURLResponse, _ http: HTTPURLResponse, _ fields: FieldSection
    ) -> CachedURLResponse {
        guard fields != http.fields else { return cached }
        return CachedURLResponse(
            response: http.copy(status: http.statusCode, fields: fields), data: cached.data, userInfo: cached.userInfo,
            storagePolicy: cached.storagePolicy)
    }

    /// Returns the entry with the fields of a response that confirms it (RFC 9111 §4.3.4).
    func freshened(with update: FieldSection, requestTime: Int, responseTime: Int, at now: Date) -> CacheEntry {
        guard var head, let http = response.response as? HTTPURLResponse else { return self }
        head.freshen(with: update, requestTime: requestTime, responseTime: responseTime)
        return CacheEntry(response: Self.response(response, http, head.usableFields), head: head, stored: now)
    }

    /// Returns a partial entry with the content that older partial entries of its URL add (RFC 9111 §3.4), otherwise the same entry.
    ///
    /// - Parameters:
    ///   - older: The entries of the URL.
    ///   - limit: The maximum number of bytes of the combined content.
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

    /// The number of bytes that the entry costs.
    var cost: Int {
        let fields = (response.response as? HTTPURLResponse)?.fields.byteCount ?? 0
        return response.data.count + fields + MemoryCache.overhead
    }
}

/// The request of a response that may be stored, and the times of the exchange in seconds since 1970.
final class CacheExchange: Sendable {
    /// The fields as they were sent.
    let fields: FieldSection
    let requestTime: Int
    let responseTime: Int
    /// The key of the stored response; `nil` for that of the request.
    let key: MemoryCache.Key?

    init(fields: FieldSection, requestTime: Int, responseTime: Int, key: MemoryCache.Key? = nil) {
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.key = key
    }

    /// Returns the current time in seconds since 1970.
    static var now: Int { Int(Date().timeIntervalSince1970) }

    /// Returns the facts of a response.
    func head(of response: HTTPURLResponse) -> StoredResponse {
        StoredResponse(
            status: response.statusCode, fields: response.fields, request: fields, requestTime: requestTime,
            responseTime: responseTime)
    }
}
