internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// The cookies of one storage: a cookie store that implements RFC 6265bis, and the `HTTPCookie` objects that the
/// program receives.
struct CookieJar: Sendable {
    /// The identity of a cookie. A new cookie replaces a stored cookie that has an equal key (RFC 6265bis §5.7).
    struct Key: Hashable, Sendable {
        var name: String
        var domain: String
        var path: String
    }

    /// The request properties that select cookies. They are the key under which a request's `Cookie` value is cached.
    /// The path has no query.
    struct AnswerKey: Hashable, Sendable {
        var isSecure: Bool
        var host: String
        var path: String
    }

    /// A request's cached `Cookie` value; `nil` if there are no cookies for it.
    private struct Answer: Sendable {
        var value: String?
        /// The cookie store's number of changes when this `Cookie` value was computed.
        var changeCount: Int
        var end: Duration
    }

    /// The maximum number of cached `Cookie` field values.
    private static let maximumAnswers = 64
    /// How long a cached `Cookie` value is used. A cookie's time of latest use is recorded only when the cookie is
    /// looked up in the store, so the time is short.
    private static let answerLife = Duration.seconds(1)

    private var store: CookieStore
    private var answers: [AnswerKey: Answer] = [:]
    private var objects: [Key: HTTPCookie] = [:]
    /// The cookies that have changed since the cookie file was last written; `nil` if cookies are kept only in memory.
    private var changes: Set<Key>?
    /// Which cookies are accepted.
    var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    /// Whether the cookie file has been read. Always `true` if cookies are kept only in memory.
    private(set) var isLoaded: Bool

    /// - Parameters:
    ///   - suffixes: The public suffixes.
    ///   - hasFile: Whether the cookie storage also writes the cookies to a file.
    init(_ suffixes: PublicSuffixes = .shared, hasFile: Bool = false) {
        store = CookieStore { suffixes.list.isPublicSuffix($0) }
        changes = hasFile ? [] : nil
        isLoaded = !hasFile
    }

    /// Whether there are no cookies.
    var isEmpty: Bool { store.count == 0 }

    /// Returns all cookies that have not expired, in order of creation.
    mutating func all(at now: Duration) -> [HTTPCookie] {
        store.removeExpired(at: now)
        return store.all.compactMap { object(of: $0) }
    }

    /// Stores a cookie that the program created. An expired cookie removes the stored cookie with the same key. Ignores
    /// a cookie without a name, which only a subclass can have.
    mutating func insert(_ cookie: HTTPCookie, at now: Duration) {
        guard policy != .never, !cookie.name.isEmpty else { return }
        let outcome = store.insert(Self.stored(cookie, at: now), at: now)
        note(cookie, outcome)
    }

    /// Stores a cookie from a response if it has a name, and RFC 6265bis and the accept policy allow it.
    ///
    /// - Returns: Whether a cookie was stored or removed.
    mutating func receive(_ cookie: HTTPCookie, from context: CookieContext, at now: Duration) -> Bool {
        let withoutDot = Self.withoutDot(cookie.domain)
        guard policy != .never, !cookie.name.isEmpty, withoutDot != nil || cookie.domain == context.host else {
            return false
        }
        var parsed = SetCookie(name: Array(cookie.name.utf8), value: Array(cookie.value.utf8))
        parsed.domain = withoutDot
        parsed.path = cookie.path
        parsed.expires = cookie.expiresDate.map { Self.seconds($0) }
        parsed.isSecure = cookie.isSecure
        parsed.isHTTPOnly = cookie.isHTTPOnly
        parsed.sameSite = Self.site(cookie)
        guard case .success(let accepted) = store.judge(parsed, from: context, at: now) else { return false }
        note(Self.object(cookie, as: accepted), store.insert(accepted, at: now))
        return true
    }

    /// Returns the object for a cookie that the store has accepted. This is the given object, or a new object if the
    /// store changed the domain or path. If the domain is an IP address, or a public suffix equal to the host, such as
    /// `localhost`, the cookie becomes host-only (RFC 6265bis §5.7).
    private static func object(_ cookie: HTTPCookie, as accepted: Cookie) -> HTTPCookie {
        guard key(cookie) != key(accepted) else { return cookie }
        var values = cookie.values
        (values.domain, values.path) = (key(accepted).domain, accepted.path)
        return HTTPCookie(values)
    }

    /// Returns the cookies for a request: longest path first, then oldest first.
    mutating func cookies(for context: CookieContext, at now: Duration) -> [HTTPCookie] {
        store.cookies(for: context, at: now).compactMap { object(of: $0) }
    }

    /// Returns the cached `Cookie` value. The outer optional is `nil` if no value is cached. The inner optional is
    /// `nil` if the request has no cookies.
    func answer(for key: AnswerKey, at now: Duration) -> String?? {
        guard let answer = answers[key], answer.changeCount == store.changeCount, now < answer.end,
            now >= answer.end - Self.answerLife
        else { return nil }
        return .some(answer.value)
    }

    /// Returns the `Cookie` value, and caches it for the next requests.
    mutating func makeAnswer(for key: AnswerKey, _ context: CookieContext, at now: Duration) -> String? {
        let found = store.cookies(for: context, at: now)
        let value = found.isEmpty ? nil : String(decoding: CookieStore.field(found), as: UTF8.self)
        let end = found.compactMap(\.expires).reduce(now + Self.answerLife) { min($0, $1) }
        if answers.count >= Self.maximumAnswers { answers = [:] }
        answers[key] = Answer(value: value, changeCount: store.changeCount, end: end)
        return value
    }

    /// Removes a cookie.
    mutating func remove(_ cookie: HTTPCookie) {
        store.delete(Self.stored(cookie, at: .zero))
        drop(Self.key(cookie))
    }

    /// Removes the cookies that were created after the given time.
    mutating func removeAll(since time: Duration) { removeAll { $0.created > time } }

    /// Removes cookies whose domain is a public suffix according to a newly loaded list. Returns whether there were any.
    mutating func removePublicSuffixes(_ suffixes: PublicSuffixList) -> Bool {
        let count = store.count
        removeAll { !$0.isHostOnly && suffixes.isPublicSuffix($0.domain) }
        return store.count != count
    }

    private mutating func removeAll(where shouldRemove: (Cookie) -> Bool) {
        for cookie in store.all where shouldRemove(cookie) { drop(Self.key(cookie)) }
        store.removeAll(where: shouldRemove)
    }

    private mutating func note(_ cookie: HTTPCookie, _ outcome: CookieOutcome) {
        let key = Self.key(cookie)
        for evicted in store.evicted { drop(Self.key(evicted)) }
        changes?.insert(key)
        objects[key] = outcome == .stored && !store.evicted.contains { Self.key($0) == key } ? cookie : nil
        // When the store is full, it also removes expired cookies. Remove the `HTTPCookie` objects of these cookies
        // here.
        if objects.count > store.count + 256 {
            let kept = Set(store.all.map { Self.key($0) })
            objects = objects.filter { kept.contains($0.key) }
        }
    }

    private mutating func drop(_ key: Key) {
        objects[key] = nil
        changes?.insert(key)
    }

    private func object(of cookie: Cookie) -> HTTPCookie? { objects[Self.key(cookie)] }
}

// MARK: The file

extension CookieJar {
    /// For each changed cookie, the record to write; `nil` if the cookie was removed or is a session cookie.
    typealias Changes = [Key: CookieRecord?]

    /// Adds the cookies from the file. Cookies that this process already has or has changed take precedence.
    mutating func load(_ records: [CookieRecord], at now: Duration) {
        guard !isLoaded else { return }
        isLoaded = true
        add(records, at: now)
    }

    private mutating func add(_ records: [CookieRecord], at now: Duration) {
        // Take the keys of the known cookies from the store. `objects` can still contain expired cookies.
        store.removeExpired(at: now)
        var known = Set(store.all.map { Self.key($0) })
        for record in records.sorted(by: { $0.cookie.created < $1.cookie.created }) {
            let key = Self.key(record.cookie)
            guard !known.contains(key), changes?.contains(key) != true else { continue }
            var cookie = record.cookie
            // The cookie's creation time can be in the future if the system clock was set back. In this case, use the
            // current time.
            cookie.created = min(cookie.created, now)
            guard case .stored = store.insert(cookie, at: now) else { continue }
            objects[key] = HTTPCookie(CookieValues(record))
            known.insert(key)
        }
    }

    /// Returns the changes to write and clears them.
    mutating func takeChanges() -> Changes {
        guard let keys = changes, !keys.isEmpty else { return [:] }
        changes = []
        var taken = Changes(uniqueKeysWithValues: keys.map { ($0, nil) })
        for cookie in store.all where cookie.expires != nil {
            let key = Self.key(cookie)
            guard keys.contains(key), let object = objects[key] else { continue }
            taken[key] = .some(CookieRecord(cookie, notes: object.values.notes))
        }
        return taken
    }

    /// Puts back changes that could not be written to the file. The next write includes them.
    mutating func restore(_ taken: Changes) { changes?.formUnion(taken.keys) }

    /// Applies changes to a file's cookies. Returns at most as many cookies as a store can contain.
    static func merge(_ records: [CookieRecord], with changes: Changes, at now: Duration) -> [CookieRecord] {
        var merged = records.filter { changes[key($0.cookie)] == nil }
        merged += changes.values.compactMap { $0 }
        merged.removeAll { $0.cookie.isExpired(at: now) }
        merged.sort { $0.cookie.created < $1.cookie.created }
        return merged.suffix(CookieStore.Limits().total)
    }

    /// Adds cookies that other processes have written to the file, and removes cookies that they have deleted from the
    /// file.
    mutating func adopt(_ records: [CookieRecord], at now: Duration) {
        add(records, at: now)
        let kept = Set(records.map { Self.key($0.cookie) })
        let unwritten = changes ?? []
        func isGone(_ cookie: Cookie) -> Bool {
            let key = Self.key(cookie)
            // The program can store cookies that no response could have set. Such cookies are never in the file. They
            // were not deleted there, so they stay.
            return cookie.expires != nil && cookie.isWellFormed && !kept.contains(key) && !unwritten.contains(key)
        }
        for cookie in store.all where isGone(cookie) { objects[Self.key(cookie)] = nil }
        store.removeAll(where: isGone)
    }
}

// MARK: Conversion

extension CookieJar {
    private static func key(_ cookie: HTTPCookie) -> Key {
        Key(name: cookie.name, domain: cookie.domain, path: cookie.path)
    }

    private static func key(_ cookie: Cookie) -> Key {
        Key(
            name: String(decoding: cookie.name, as: UTF8.self),
            domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain, path: cookie.path)
    }

    /// Returns the domain without its leading dot. Returns `nil` if there is no leading dot. Such a cookie applies only
    /// to a single host.
    private static func withoutDot(_ domain: String) -> String? {
        domain.utf8.first == UInt8(ascii: ".") ? String(Substring(domain.utf8.dropFirst())) : nil
    }

    private static func stored(_ cookie: HTTPCookie, at now: Duration) -> Cookie {
        let withoutDot = Self.withoutDot(cookie.domain)
        return Cookie(
            name: Array(cookie.name.utf8), value: Array(cookie.value.utf8),
            domain: withoutDot ?? cookie.domain, isHostOnly: withoutDot == nil, path: cookie.path,
            expires: cookie.expiresDate.map { .seconds(seconds($0)) }, created: now,
            isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: site(cookie))
    }

    /// Returns the seconds since 1970, limited so that calculations cannot overflow.
    private static func seconds(_ date: Date) -> Int64 {
        let time = date.timeIntervalSince1970
        return time.isNaN ? 0 : Int64(min(max(time.rounded(), -1e11), 1e11))
    }

    private static func site(_ cookie: HTTPCookie) -> SetCookie.SameSite {
        switch cookie.sameSitePolicy {
        case HTTPCookieStringPolicy.sameSiteLax: .lax
        case HTTPCookieStringPolicy.sameSiteStrict: .strict
        default: .unspecified
        }
    }
}

extension CookieJar.AnswerKey {
    /// Creates the key for a request to this origin and target.
    init(_ origin: HTTPOrigin, _ target: String) {
        self.init(isSecure: origin.isSecure, host: origin.host, path: String(target.prefix { $0 != "?" }))
    }
}
