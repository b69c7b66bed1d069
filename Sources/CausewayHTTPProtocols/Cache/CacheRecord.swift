/// The head of a stored response's file: everything except the content, which follows it.
///
/// The head consists of a prefix and the values of this type's properties. All numbers are in network byte order.
/// ```
/// 0   8 bytes   "CWCACHE1"
/// 8   4 bytes   number of bytes of the values
/// 12  8 bytes   checksum of the values
/// 20  ...       values
/// ...           content
/// ```
package struct CacheRecord: Equatable, Sendable {
    /// Response properties.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The response came over HTTP. Without this trait, the response came over another protocol. Its field names
        /// are then names that only the cache uses.
        package static let isHTTP = Traits(rawValue: 1 << 0)
        /// The content is stored without its content coding.
        package static let isDecoded = Traits(rawValue: 1 << 1)
    }

    /// The file's content, after the head.
    package struct Content: Equatable, Sendable {
        package var count: Int
        package var checksum: UInt64

        package init(count: Int, checksum: UInt64) {
            self.count = count
            self.checksum = checksum
        }
    }

    /// The cache key: the method and the URL.
    package var key: String
    package var url: String
    package var version: String
    package var traits: Traits
    package var stored: StoredResponse
    /// Data that the program attached to the response. Its format is not defined here.
    package var attachment: [UInt8]
    package var content: Content

    static let magic = Array("CWCACHE1".utf8)
    static let prefixCount = 20
    /// The maximum length in bytes of all values in the head together.
    package static let maximumCount = 1 << 20
    /// The maximum number of response fields, and of request fields that selected the response.
    static let maximumFields = 4_096

    package init(
        key: String, url: String, version: String, traits: Traits, stored: StoredResponse, attachment: [UInt8],
        content: Content
    ) {
        self.key = key
        self.url = url
        self.version = version
        self.traits = traits
        self.stored = stored
        self.attachment = attachment
        self.content = content
    }
}
