internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// How a request uses the cache.
enum CacheUse: Sendable {
    /// The request follows the rules of HTTP.
    case byProtocol
    /// A stored response of any age is used. If none is stored, the request is sent to the server.
    case anyAge
    /// A stored response of any age is used. The network is never used.
    case onlyStored
    /// A stored response is used after the server has validated it.
    case validating
    /// The cache policy forbids the use of stored responses.
    case none

    init(_ policy: NSURLRequest.CachePolicy) {
        switch policy {
        case .useProtocolCachePolicy: self = .byProtocol
        case .returnCacheDataElseLoad: self = .anyAge
        case .returnCacheDataDontLoad: self = .onlyStored
        case .reloadRevalidatingCacheData: self = .validating
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .none
        }
    }
}

/// The values that one request's cache lookup uses.
final class CacheQuestion: Sendable {
    let method: String
    /// The header fields of the request, as they will be sent to the server.
    let fields: FieldSection
    let use: CacheUse
    /// The time at which the cache is searched, in seconds since 1970.
    let now: Int
    /// The key for stored responses; `nil` if the request has none.
    let key: MemoryCache.Key?

    init(method: String, fields: FieldSection, use: CacheUse, now: Int, key: MemoryCache.Key? = nil) {
        self.method = method
        self.fields = fields
        self.use = use
        self.now = now
        self.key = key
    }

    /// Decides how the cache answers the request, and selects the stored entry to use, if any.
    func decide(_ entries: [CacheEntry]) -> (CachePolicy.Decision, CacheEntry?) {
        guard let entry = CacheEntry.selected(from: entries, for: fields) else {
            return (use.isLocal ? .refuse : CachePolicy.decideWithoutResponse(fields), nil)
        }
        switch use {
        case .anyAge, .onlyStored: return (answer(from: entry) == nil ? .forward : .reuse, entry)
        case .none: return (.forward, nil)
        case .byProtocol, .validating: break
        }
        guard let head = entry.head else { return (.forward, nil) }
        let decision = CachePolicy.decide(fields, head, mustValidate: use.mustValidate, at: now)
        let needsAnswer = decision == .reuse || decision == .reuseAndValidate
        return needsAnswer && answer(from: entry) == nil ? (.forward, nil) : (decision, entry)
    }

    /// Returns an entry's response in the form that this request needs. A HEAD request needs no content, and a range
    /// request needs a part of the content. Returns `nil` if the entry cannot answer the request.
    func answer(from entry: CacheEntry) -> CachedURLResponse? {
        let cached = entry.response
        if method == "HEAD" {
            guard !entry.isPartial else { return nil }
            return CachedURLResponse(response: cached.response, data: Data())
        }
        guard fields.contains("Range"), let head = entry.head, let http = cached.response as? HTTPURLResponse else {
            return entry.isPartial ? nil : cached
        }
        guard head.status == 200 || head.status == 206 else { return cached }
        guard !http.isContentDecoded, let positions = head.positions(for: fields, count: cached.data.count) else {
            return nil
        }
        let start = cached.data.startIndex
        let part = Data(cached.data[(start + positions.lowerBound)..<(start + positions.upperBound)])
        let response = http.copy(status: 206, fields: head.fields(forPart: positions, count: cached.data.count))
        return CachedURLResponse(response: response, data: part)
    }
}

extension CacheUse {
    /// Whether the request must not use the network.
    var isLocal: Bool { if case .onlyStored = self { true } else { false } }

    /// Whether the server must validate a stored response before each use.
    var mustValidate: Bool { if case .validating = self { true } else { false } }

    /// Whether the request must not use stored responses.
    var isNone: Bool { if case .none = self { true } else { false } }
}

extension CacheEntry {
    /// Selects the cache entry that answers a request with these fields.
    static func selected(from entries: [CacheEntry], for fields: FieldSection, isLenient: Bool = false) -> CacheEntry? {
        // Handle a single entry first, because nearly all URLs have only one. This is faster than the general code
        // below.
        if entries.count == 1, let head = entries[0].head {
            return head.answers(fields, isLenient: isLenient) ? entries[0] : nil
        }
        let heads = entries.compactMap(\.head)
        // Only HTTP responses have a stored head (status and header fields). For other protocols, there is only one
        // entry for each URL.
        guard heads.count == entries.count else { return entries.last }
        return StoredResponse.index(in: heads, for: fields, isLenient: isLenient).map { entries[$0] }
    }

    /// Returns whether a response in this entry takes the place of the response in `other` in the cache.
    func replaces(_ other: CacheEntry) -> Bool {
        guard let head, let otherHead = other.head else { return true }
        return head.replaces(otherHead)
    }

    /// The maximum number of stored responses for one URL. A URL has several responses if their requests differ in a
    /// field that `Vary` lists.
    static let maximumVariants = 4

    /// Returns the URL's entries after this entry was added.
    func added(to entries: [CacheEntry]) -> [CacheEntry] {
        // If a complete response does not depend on request header fields, it answers every request for the URL. It
        // then replaces all other entries.
        if let head, head.selecting.isEmpty, head.part == nil { return [self] }
        var result = entries.filter { !replaces($0) }
        while result.count >= Self.maximumVariants {
            result.remove(at: result.firstIndex(where: \.isPartial) ?? 0)
        }
        return result + [self]
    }
}
