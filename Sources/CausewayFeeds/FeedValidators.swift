public import CausewayFeedFormats
internal import CausewayURLLoading
public import Foundation

/// The fields of a response that a later request sends back to learn whether the feed has changed (RFC 9110 §13).
public struct FeedValidators: Hashable, Sendable, Codable {
    /// The field `ETag`.
    public var entityTag: String?
    /// The field `Last-Modified`.
    public var lastModified: String?

    /// Makes validators.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Adds the conditions to a request.
    func add(to request: inout URLRequest) {
        if let entityTag { request.setValue(entityTag, forHTTPHeaderField: "If-None-Match") }
        if let lastModified { request.setValue(lastModified, forHTTPHeaderField: "If-Modified-Since") }
    }
}

/// The answer to one fetch of a feed.
public struct FeedResponse: Sendable {
    /// The feed, or `nil` if it has not changed since the validators were received (status 304).
    public var feed: Feed?
    /// The validators for the next fetch.
    public var validators: FeedValidators
    /// The address of the feed after redirects.
    public var url: URL
    /// How long the server lets copies be used (`Cache-Control: max-age`).
    public var maximumAge: Duration?
    /// How long the server asks clients to wait (`Retry-After`).
    public var retryAfter: Duration?
}
