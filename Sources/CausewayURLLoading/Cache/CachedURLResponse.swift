public import Foundation

/// A response and its body, as stored in a cache.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. As on Apple platforms, the program ensures the thread safety of
// objects in the user info.
@preconcurrency open class CachedURLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private struct Values {
        var response: URLResponse
        var data: Data
        var userInfo: [AnyHashable: Any]?
        var policy: URLCache.StoragePolicy
    }

    private struct Archive: Codable {
        var data: Data
        var policy: UInt
    }

    private let stored: Values

    /// Creates a cached response without content, for subclasses with an initializer of their own.
    public override init() {
        stored = Values(response: URLResponse(), data: Data(), policy: .allowed)
        super.init()
    }

    /// Creates a cached response that may be stored in memory and on disk.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// Creates a cached response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - data: The content.
    ///   - userInfo: Application-defined values to store with the response.
    ///   - storagePolicy: Where the response may be stored.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil, storagePolicy: URLCache.StoragePolicy
    ) {
        stored = Values(response: response, data: data, userInfo: userInfo, policy: storagePolicy)
        super.init()
    }

    /// Decodes a cached response. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let archive = coder.decodePropertyList(Archive.self),
            let policy = URLCache.StoragePolicy(rawValue: archive.policy),
            let response = coder.decodeObject(of: [URLResponse.self, HTTPURLResponse.self], forKey: "response")
                as? URLResponse
        else { return nil }
        stored = Values(response: response, data: archive.data, policy: policy)
        super.init()
    }

    /// Encodes the cached response. Its user info is not encoded.
    open func encode(with coder: NSCoder) {
        coder.encodePropertyList(Archive(data: data, policy: storagePolicy.rawValue))
        coder.encode(response, forKey: "response")
    }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns this object. No copy is made because the object is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The response.
    open var response: URLResponse { stored.response }

    /// The content.
    open var data: Data { stored.data }

    /// Application-defined values that are stored with the response.
    open var userInfo: [AnyHashable: Any]? { stored.userInfo }

    /// Whether the response may be stored on disk, only in memory, or not at all.
    open var storagePolicy: URLCache.StoragePolicy { stored.policy }

    /// Returns whether response, content and storage policy are equal.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? CachedURLResponse else { return false }
        return other === self
            || other.response.isEqual(response) && other.data == data && other.storagePolicy == storagePolicy
    }

    /// The hash value of the response and the content.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response)
        hasher.combine(data)
        return hasher.finalize()
    }
}
