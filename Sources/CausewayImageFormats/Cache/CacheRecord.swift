/// A disk cache file: a header with a response's metadata, and the image bytes.
///
/// A power failure may damage files, and other programs may write them, so every field is checked.
package struct CacheRecord: Hashable, Sendable {
    /// The maximum header size in bytes.
    package static let maximumHeader = 64 * 1024
    private static let magic: [UInt8] = Array("CWIMAGE1".utf8)

    /// The request's key.
    package var key: String
    /// The response's validators.
    package var entityTag: String?
    package var lastModified: String?
    /// The time when the response was stored, in seconds since 1970.
    package var stored: Int64
    /// When the response becomes stale, in seconds since 1970; `nil` if each use requires validation.
    package var expires: Int64?
    /// The image bytes.
    package var content: [UInt8]

    package init(
        key: String, entityTag: String?, lastModified: String?, stored: Int64, expires: Int64?, content: [UInt8]
    ) {
        self.key = key
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.stored = stored
        self.expires = expires
        self.content = content
    }

    /// The file's header, which precedes the content; `nil` if a field is too long.
    package var header: [UInt8]? {
        var body: [UInt8] = []
        for text in [key, entityTag, lastModified] {
            let bytes = Array((text ?? "").utf8)
            body += Self.number(UInt64(text == nil ? 0 : 1), 1) + Self.number(UInt64(bytes.count), 4) + bytes
        }
        body += Self.number(UInt64(bitPattern: stored), 8) + Self.number(UInt64(expires == nil ? 0 : 1), 1)
        body += Self.number(UInt64(bitPattern: expires ?? 0), 8) + Self.number(UInt64(content.count), 8)
        body += Self.number(Self.checksum(content), 8)
        let head = Self.magic + Self.number(UInt64(body.count), 4) + Self.number(Self.checksum(body), 8)
        return body.count <= Self.maximumHeader ? head + body : nil
    }

    /// Parses a whole file. Returns `nil` if it is damaged or not a cache file.
    package init?(_ file: [UInt8]) {
        var reader = Reader(bytes: file)
        guard reader.take(8).map({ Array($0) }) == Self.magic, let count = reader.number(4),
            count <= Self.maximumHeader,
            let sum = reader.number(8), let body = reader.take(Int(count)), Self.checksum(body) == sum
        else { return nil }
        var fields = Reader(bytes: Array(body))
        guard let key = fields.text() ?? nil, let entityTag = fields.text(), let lastModified = fields.text(),
            let stored = fields.number(8), let hasExpiry = fields.number(1), let expires = fields.number(8),
            let contentCount = fields.number(8), let contentSum = fields.number(8), fields.isAtEnd
        else { return nil }
        let content = Array(reader.rest)
        guard UInt64(content.count) == contentCount, Self.checksum(content) == contentSum, hasExpiry <= 1 else {
            return nil
        }
        self.init(
            key: key, entityTag: entityTag, lastModified: lastModified, stored: Int64(bitPattern: stored),
            expires: hasExpiry == 1 ? Int64(bitPattern: expires) : nil, content: content)
    }

    /// Returns a checksum, which detects accidental damage but not forgery.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        // This is the FNV-1a hash function.
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return sum
    }

    private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    /// Reads fields from bytes.
    private struct Reader {
        var bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }
        var rest: ArraySlice<UInt8> { bytes[position...] }

        mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count >= 0, count <= bytes.count - position else { return nil }
            defer { position += count }
            return bytes[position..<(position + count)]
        }

        mutating func number(_ count: Int) -> UInt64? {
            take(count)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Reads an optional text. Returns `nil` if the field is damaged. Returns `.some(nil)` if the field contains no
        /// text.
        mutating func text() -> String?? {
            guard let isPresent = number(1), isPresent <= 1, let count = number(4), let bytes = take(Int(count)),
                let text = String(validating: bytes, as: UTF8.self), isPresent == 1 || count == 0
            else { return nil }
            return .some(isPresent == 1 ? text : nil)
        }
    }
}
