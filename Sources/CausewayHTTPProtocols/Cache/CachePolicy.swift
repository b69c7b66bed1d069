import CausewayProtocols
package import CausewayWire

/// The rules of a private HTTP cache (RFC 9111, RFC 5861): which responses are stored, and when they are reused.
package enum CachePolicy {
    /// How to answer a request for which the cache has a stored response.
    package enum Decision: Equatable, Sendable {
        /// Answer with the stored response.
        case reuse
        /// Answer with the stored response, and validate it in the background for later requests (RFC 5861 §3).
        case reuseAndValidate
        /// Ask the server whether the stored response is still current.
        case validate
        /// Send the request as if nothing were stored.
        case forward
        /// Fail with status 504, because the request forbids the network.
        case refuse
    }

    /// Fields with which a program makes its own request conditional. The cache forwards such requests.
    private static let ownConditions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    ]

    private static let ownConditionLengths = ownConditions.reduce(0 as UInt64) { $0 | 1 << UInt64($1.utf8.count) }

    // MARK: Storing

    /// Returns whether a response may be stored (RFC 9111 §3). For a partial response, this check is not sufficient.
    /// The caller also calls ``StoredResponse/notePart(of:count:)`` to check which part of the content it contains.
    package static func isStorable(method: String, request: FieldSection, _ response: StoredResponse) -> Bool {
        isStorable(method: method, request: request, status: response.status, fields: response.fields)
    }

    /// Returns whether a response with this status and these fields may be stored.
    package static func isStorable(method: String, request: FieldSection, status: Int, fields: FieldSection) -> Bool {
        guard method == "GET", (200...599).contains(status), status != 304, status != 206 || request.contains("Range"),
            !request.contains("Cache-Control") || !CacheControl(request).flags.contains(.noStore)
        else { return false }
        let control = CacheControl(fields)
        // If a response has both no-store and must-understand, a cache that understands the status ignores no-store
        // (RFC 9111 §5.2.2.3).
        if control.flags.contains(.mustUnderstand) {
            guard StoredResponse.isHeuristic(status) else { return false }
        } else if control.flags.contains(.noStore) {
            return false
        }
        guard !hasUnusableVary(fields) else { return false }
        return control[.maxAge] != nil || fields.contains("Expires") || StoredResponse.isHeuristic(status)
            || !control.flags.isDisjoint(with: [.isPublic, .isPrivate])
    }

    /// Returns whether `Vary` contains an asterisk (RFC 9111 §4.1), or too many names.
    private static func hasUnusableVary(_ fields: FieldSection) -> Bool {
        var (count, isUnusable) = (0, false)
        fields.forEachElement(of: "Vary") { element in
            count += 1
            isUnusable = count > CacheControl.maximumNameCount || HTTPCharacters.areEqual(element, "*")
            return !isUnusable
        }
        return isUnusable
    }

    // MARK: Using

    /// Decides how to answer a request that selects a stored response (RFC 9111 §4).
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - stored: The stored response.
    ///   - mustValidate: Whether the program requires validation in any case.
    ///   - now: The current time, in seconds since 1970.
    package static func decide(
        _ request: FieldSection, _ stored: StoredResponse, mustValidate: Bool = false, at now: Int
    ) -> Decision {
        guard stored.isOfUse || request.contains("Cache-Control") else { return .forward }
        let directives = CacheControl(request)
        guard !hasOwnCondition(request) else { return .forward }
        let isLocalOnly = directives.flags.contains(.onlyIfCached)
        let decision = mustValidate ? .validate : use(request, directives, stored, at: now)
        switch decision {
        case .validate where isLocalOnly: return .refuse
        // Validation needs a validator. Without one, send the request unchanged. Do the same for a request with a
        // range, and if only a partial response is stored. Otherwise the server would have to apply both `Range` and
        // `If-None-Match`.
        case .validate where !stored.hasValidator || stored.part != nil || request.contains("Range"): return .forward
        case .reuseAndValidate where isLocalOnly || !stored.hasValidator: return .reuse
        default: return decision
        }
    }

    private static func hasOwnCondition(_ request: FieldSection) -> Bool {
        // First compare only the lengths of the field names, which is fast. Most requests have no field name of these
        // lengths.
        request.hasName(withLengths: ownConditionLengths) && ownConditions.contains { request.contains($0) }
    }

    /// Decides how to answer without a stored response: a request with only-if-cached is refused (RFC 9111 §5.2.1.7).
    package static func decideWithoutResponse(_ request: FieldSection) -> Decision {
        request.contains("Cache-Control") && CacheControl(request).flags.contains(.onlyIfCached) ? .refuse : .forward
    }

    private static func use(
        _ request: FieldSection, _ directives: CacheControl, _ stored: StoredResponse, at now: Int
    ) -> Decision {
        let control = stored.control
        // Use `Pragma` only if there is no `Cache-Control` field (RFC 9111 §5.4).
        let wantsValidation =
            directives.flags.contains(.noCache)
            || !request.contains("Cache-Control") && request.hasElement("no-cache", in: "Pragma")
        guard !wantsValidation, !control.flags.contains(.noCache) else { return .validate }
        let age = stored.age(at: now)
        let staleness = age - stored.lifetime
        // A reload (max-age=0) does not validate an immutable response while it is fresh (RFC 8246 §2).
        let isImmutable = control.flags.contains(.immutable) && staleness < 0 && directives[.maxAge] == 0
        if let limit = directives[.maxAge], age > limit || limit == 0, !isImmutable { return .validate }
        if staleness < 0 { return -staleness < directives[.minFresh] ?? 0 ? .validate : .reuse }
        guard !control.flags.contains(.mustRevalidate), directives[.minFresh] == nil else { return .validate }
        if let limit = directives[.maxStale], staleness <= limit { return .reuse }
        if let limit = control[.staleWhileRevalidate], staleness <= limit { return .reuseAndValidate }
        return .validate
    }

    /// Returns whether a stale response may replace an error: a status of 500, 502, 503 or 504, or no response
    /// (RFC 5861 §4, RFC 9111 §4.2.4).
    package static func permitsStaleAfterError(_ request: FieldSection, _ stored: StoredResponse, at now: Int) -> Bool {
        let (control, directives) = (stored.control, CacheControl(request))
        guard control.flags.isDisjoint(with: [.mustRevalidate, .noCache]), !directives.flags.contains(.noCache),
            let limit = directives[.staleIfError] ?? control[.staleIfError]
        else { return false }
        return stored.staleness(at: now) <= limit
    }

    /// Returns whether a stored response without a validator can replace a later error (RFC 5861 §4). The response must
    /// be complete, and the request must have no range and no condition. If the error occurs,
    /// ``permitsStaleAfterError(_:_:at:)`` checks whether the response is too old.
    package static func mayReplaceError(_ request: FieldSection, _ stored: StoredResponse) -> Bool {
        !stored.hasValidator && stored.part == nil && !request.contains("Range") && !hasOwnCondition(request)
    }

    /// Returns whether the status is a server error. For such an error, ``permitsStaleAfterError(_:_:at:)`` decides
    /// whether a stale response may be used (RFC 5861 §4).
    package static func isError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    // MARK: Invalidation

    /// Returns the URIs whose stored responses a response invalidates: the request URI, and same-origin URIs in
    /// `Location` and `Content-Location` (RFC 9111 §4.4). Only non-error responses to unsafe methods invalidate stored
    /// responses.
    package static func invalidated(
        method: String, uri: String, status: Int, fields: FieldSection
    ) -> [String] {
        guard invalidates(method: method, status: status) else { return [] }
        var result = [uri]
        guard let base = URIReference(uri), let origin = HTTPOrigin(base) else { return result }
        for name in ["Location", "Content-Location"] {
            guard let text = fields.onlyValue(of: name), let reference = URIReference(text) else { continue }
            let target = reference.resolved(against: base)
            if HTTPOrigin(target) == origin { result.append(target.description) }
        }
        return result
    }

    private static func invalidates(method: String, status: Int) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": false
        default: (200..<400).contains(status)
        }
    }
}
