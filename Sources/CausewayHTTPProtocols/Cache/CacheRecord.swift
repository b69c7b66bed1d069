/// The head of a file that holds a stored response: everything but the content, which follows the head.
///
/// All numbers are in network byte order.
/// ```
/// 0   8 bytes   "CWCACHE1"
/// 8   4 bytes   number of bytes of the values
/// 12  8 bytes   checksum of the values
/// 20  ...       values
/// ...           content
/// ```
package struct CacheRecord: Equatable, Sendable {
    /// Properties of the response.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The response is one of HTTP. Otherwise the fields have names that only the cache uses.
        package static let isHTTP = Traits(rawValue: 1 << 0)
        /// A content coding was removed from the content.
        package static let isDecoded = Traits(rawValue: 1 << 1)
    }

    /// The content of the file after the head.
    package struct Content: Equatable, Sendable {
        package var count: Int
        package var checksum: UInt64

        package init(count: Int, checksum: UInt64) {
            self.count = count
            self.checksum = checksum
        }
    }

    /// The key under which the response is stored: the method and the URL.
    package var key: String
    package var url: String
    package var version: String
    package var traits: Traits
    package var stored: StoredResponse
    /// Values of the program, in a form that the caller chooses.
    package var attachment: [UInt8]
    package var content: Content

    static let magic = Array("CWCACHE1".utf8)
    static let prefixCount = 20
    /// The maximum number of bytes of the values.
    package static let maximumCount = 1 << 20
    /// The maximum number of fields and of selecting fields.
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
