public import CausewayMarkup
internal import CausewayURLLoading
public import Foundation

/// The response fields that a later request sends back to check whether the feed has changed (RFC 9110 §13).
public struct FeedValidators: Hashable, Sendable, Codable {
    /// The `ETag` field.
    public var entityTag: String?
    /// The `Last-Modified` field.
    public var lastModified: String?

    /// Creates validators.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Adds `If-None-Match` and `If-Modified-Since` to a request.
    func add(to request: inout URLRequest) {
        if let entityTag { request.setValue(entityTag, forHTTPHeaderField: "If-None-Match") }
        if let lastModified { request.setValue(lastModified, forHTTPHeaderField: "If-Modified-Since") }
    }
}

/// The result of one feed fetch.
public struct FeedResponse: Sendable {
    /// The feed, or `nil` if it has not changed since the validators were received (status 304).
    public var feed: Feed?
    /// The validators for the next fetch.
    public var validators: FeedValidators
    /// The feed's URL after redirects.
    public var url: URL
    /// How long clients may use their copies of the feed (`Cache-Control: max-age`).
    public var maximumAge: Duration?
    /// How long clients should wait before the next request (`Retry-After`).
    public var retryAfter: Duration?
}
