public import FoundationEssentials

/// The TXT record of a Bonjour service: keys with values (RFC 6763 §6), or bytes that are something else.
///
/// Keys compare without regard to ASCII case. Entries keep the order in which they were added or arrived. Two records
/// are equal when they have equal entries in any order.
///
/// Counterpart: macOS 10.15, iOS 13.
public struct NWTXTRecord: Sendable {
    /// The most bytes of one key, its `=`, and its value together (RFC 6763 §6.1).
    static let maximumStringByteCount = 255
    /// The most bytes of a record on the wire: the length of its data is a 16-bit number (RFC 1035 §3.2.1).
    static let maximumByteCount = 65535

    /// One key with its value.
    struct Pair: Sendable {
        var key: String
        var entry: Entry
    }

    enum Content: Sendable {
        case pairs([Pair])
        /// Bytes that cannot be read as strings with a length before each.
        case opaque
    }

    var content: Content
    /// The bytes from which the record was made, until it is changed.
    var source: Data?

    /// Makes a record from text values. An empty value becomes ``Entry/empty``.
    ///
    /// The order on the wire is that of the keys. Left out are pairs that a record cannot hold (see
    /// ``setEntry(_:for:)``), and all but the first of keys that differ only in case.
    public init(_ dictionary: [String: String] = [:]) {
        content = .pairs([])
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where getEntry(for: key) == nil {
            setEntry(.string(value), for: key)
        }
    }

    /// Makes a record from its form on the wire.
    ///
    /// Strings without a key are passed over, and so is every repetition of a key (RFC 6763 §6.4). Bytes that are not
    /// strings with a length before each are kept as they are: then the record has no entries and takes none.
    public init(_ data: Data) {
        content = Self.parse(data).map(Content.pairs) ?? .opaque
        source = data
    }

    /// The form on the wire: each entry with one byte before it for its length (RFC 6763 §6.1).
    ///
    /// Without entries this is empty; what is sent is then a single zero byte.
    public var data: Data {
        source ?? Self.serialize(pairs)
    }

    /// The entries as text. Those without a value, and those that are not UTF-8, are missing.
    public var dictionary: [String: String] {
        var dictionary: [String: String] = [:]
        for pair in pairs {
            if let text = pair.entry.text { dictionary[pair.key] = text }
        }
        return dictionary
    }

    /// The value of a key, or `nil` if the record does not have it.
    public func getEntry(for key: String) -> NWTXTRecord.Entry? {
        firstIndex(of: key).map { pairs[$0].entry }
    }

    /// Adds a key, or replaces its value and the spelling of its case.
    ///
    /// - Returns: `false`, and nothing changes, when the key is empty or has characters other than printable ASCII
    ///   without `=` (RFC 6763 §6.4), when key and value exceed 255 bytes, when the record would exceed 65535
    ///   bytes, and when it is made of other bytes than entries.
    @discardableResult
    public mutating func setEntry(_ entry: NWTXTRecord.Entry, for key: String) -> Bool {
        guard case .pairs(var pairs) = content, Self.isValid(key: key) else { return false }
        let pair = Pair(key: key, entry: entry.normalized)
        guard pair.byteCount <= Self.maximumStringByteCount else { return false }
        if let index = firstIndex(of: key) {
            pairs[index] = pair
        } else {
            pairs.append(pair)
        }
        guard pairs.reduce(0, { $0 + 1 + $1.byteCount }) <= Self.maximumByteCount else { return false }
        content = .pairs(pairs)
        source = nil
        return true
    }

    /// Removes a key. Removing one that the record does not have succeeds.
    ///
    /// - Returns: `false` when no record could have such a key, and when this one is made of other bytes.
    @discardableResult
    public mutating func removeEntry(key: String) -> Bool {
        guard case .pairs(var pairs) = content, Self.isValid(key: key) else { return false }
        guard let index = firstIndex(of: key) else { return true }
        pairs.remove(at: index)
        content = .pairs(pairs)
        source = nil
        return true
    }

    /// The value of a key as text: `nil` if it is missing, has no value, or is not UTF-8. Setting `nil` removes it.
    public subscript(key: String) -> String? {
        get { getEntry(for: key)?.text }
        set {
            if let newValue {
                setEntry(.string(newValue), for: key)
            } else {
                removeEntry(key: key)
            }
        }
    }

    var pairs: [Pair] {
        guard case .pairs(let pairs) = content else { return [] }
        return pairs
    }

    private func firstIndex(of key: String) -> Int? {
        pairs.firstIndex { $0.key.equalsIgnoringASCIICase(key) }
    }
}

extension NWTXTRecord: Equatable, CustomDebugStringConvertible {
    public static func == (lhs: NWTXTRecord, rhs: NWTXTRecord) -> Bool {
        switch (lhs.content, rhs.content) {
        case (.pairs(let left), .pairs(let right)):
            left.count == right.count && Self.byFoldedKey(left) == Self.byFoldedKey(right)
        case (.opaque, .opaque):
            lhs.source == rhs.source
        case (.pairs, .opaque), (.opaque, .pairs):
            false
        }
    }

    private static func byFoldedKey(_ pairs: [Pair]) -> [String: Entry] {
        Dictionary(pairs.map { ($0.key.lowercased(), $0.entry) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entries as they are on the wire, or the count of other bytes.
    public var debugDescription: String {
        switch content {
        case .pairs(let pairs):
            "{" + pairs.map { "\($0.key)\($0.entry.debugDescription)" }.joined(separator: ", ") + "}"
        case .opaque:
            "{\(source?.count ?? 0) bytes}"
        }
    }
}
