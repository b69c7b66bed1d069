internal import FoundationEssentials

extension NWTXTRecord {
    /// Parses length-prefixed strings. Returns `nil` if a string extends past the end (RFC 1035 §3.3.14).
    static func parse(_ data: Data) -> [Pair]? {
        var pairs: [Pair] = []
        var seen: Set<String> = []
        var rest = data[...]
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            // Ignore empty strings and strings without a key (RFC 6763 §6.4).
            guard let pair = Pair(parsing: string), seen.insert(pair.key.lowercased()).inserted else { continue }
            pairs.append(pair)
        }
        return pairs
    }

    static func serialize(_ pairs: [Pair]) -> Data {
        var data = Data()
        for pair in pairs {
            data.append(UInt8(truncatingIfNeeded: pair.byteCount))
            data.append(contentsOf: pair.key.utf8)
            if let value = pair.entry.data {
                data.append(UInt8(ascii: "="))
                data.append(value)
            }
        }
        return data
    }

    /// Returns whether a key is valid: at least one character, only printable ASCII without `=` (RFC 6763 §6.4).
    static func isValid(key: String) -> Bool {
        !key.isEmpty && key.utf8.count <= maximumStringByteCount
            && key.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
    }
}

extension NWTXTRecord.Pair {
    /// The size of one key and its value on the wire in bytes, without the length byte.
    var byteCount: Int {
        key.utf8.count + (entry.data.map { 1 + $0.count } ?? 0)
    }

    /// Splits a string at its first `=` (RFC 6763 §6.3). Returns `nil` if there is no valid key before the `=`.
    fileprivate init?(parsing string: Data) {
        let separator = string.firstIndex(of: UInt8(ascii: "="))
        let key = String(decoding: string[..<(separator ?? string.endIndex)], as: UTF8.self)
        guard NWTXTRecord.isValid(key: key) else { return nil }
        self.key = key
        entry = NWTXTRecord.Entry(separator.map { Data(string[string.index(after: $0)...]) })
    }
}

extension String {
    /// Compares TXT record keys: ignores the case of `A` to `Z` only.
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { left, right in
                left == right
                    || (left | 0x20 == right | 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(left | 0x20))
            }
    }
}
