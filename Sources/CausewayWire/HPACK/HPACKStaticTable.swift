/// The static table (RFC 7541, Appendix A): the fields with the indices 1 to 61.
struct HPACKStaticTable: Sendable {
    static let shared = HPACKStaticTable()
    static let count = 61

    /// A field's position in ``bytes``. The value follows the name.
    struct Entry: Sendable {
        var start: Int
        var nameCount: Int
        var valueCount: Int
        /// The highest index of all entries that have the same name as this entry.
        var lastIndex: Int
    }

    let bytes: [UInt8]
    let entries: [Entry]
    /// A hash table from each name to the first index with that name. If the bucket for a name's hash is taken, the
    /// name is in one of the next buckets. 0 marks a free bucket.
    private let buckets: [UInt8]

    private static let bucketMask = 127

    private init() {
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        var buckets = [UInt8](repeating: 0, count: Self.bucketMask + 1)
        for (name, value) in Self.fields {
            let lastIndex = (Self.fields.lastIndex { $0.0 == name } ?? 0) + 1
            entries.append(
                Entry(
                    start: bytes.count, nameCount: name.utf8.count, valueCount: value.utf8.count, lastIndex: lastIndex))
            bytes += name.utf8
            bytes += value.utf8
        }
        for (index, (name, _)) in Self.fields.enumerated() where index == 0 || Self.fields[index - 1].0 != name {
            var place = Int(HPACKHash.of(name.utf8.span)) & Self.bucketMask
            while buckets[place] != 0 { place = (place + 1) & Self.bucketMask }
            buckets[place] = UInt8(index + 1)
        }
        self.bytes = bytes
        self.entries = entries
        self.buckets = buckets
    }

    /// Returns the first index with this name; `nil` if there is none.
    ///
    /// - Parameter hash: The name's hash.
    func index(of name: Span<UInt8>, hash: UInt32) -> Int? {
        var place = Int(hash) & Self.bucketMask
        while buckets[place] != 0 {
            let index = Int(buckets[place])
            let entry = entries[index - 1]
            if HPACKHash.areEqual(name, bytes.span, from: entry.start, count: entry.nameCount) { return index }
            place = (place + 1) & Self.bucketMask
        }
        return nil
    }

    /// Searches the fields that have the same name as the field at index `first`. Returns the index of the field with
    /// this value; `nil` if there is none.
    func index(of value: Span<UInt8>, startingAt first: Int) -> Int? {
        for index in first...entries[first - 1].lastIndex {
            let entry = entries[index - 1]
            if HPACKHash.areEqual(value, bytes.span, from: entry.start + entry.nameCount, count: entry.valueCount) {
                return index
            }
        }
        return nil
    }

    private static let fields: [(String, String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}

/// Computes hashes of field names and values, and compares names and values.
enum HPACKHash {
    /// Returns a hash of bytes. Collisions only cost time, because every match is compared byte by byte.
    static func of(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
        var hash = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: bytes.count)
        // The unchecked loads are safe. A `UInt8` is one initialized byte, and the loop condition ensures that no load
        // reads beyond `bytes`.
        let raw = unsafe bytes.bytes
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            hash = mixed(hash ^ word)
            index &+= 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index &+= 1
        }
        hash = mixed(hash ^ rest)
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value &* 0xD6E8_FEB8_6659_FD93
        return product ^ product >> 32
    }

    /// Returns whether `bytes` equals `count` bytes in `other` from `start` on.
    static func areEqual(_ bytes: Span<UInt8>, _ other: Span<UInt8>, from start: Int, count: Int) -> Bool {
        guard bytes.count == count, start >= 0, count >= 0, start <= other.count - count else { return false }
        for index in 0..<count where bytes[index] != other[start + index] { return false }
        return true
    }
}
