public import FoundationEssentials

/// The TXT record of a Bonjour service: keys with values (RFC 6763 §6), or bytes in another format.
///
/// Key comparison ignores ASCII case. Entries keep the order in which they were added or received. Two records are equal if they have equal
/// entries in any order.
///
/// Counterpart: macOS 10.15, iOS 13.
public struct NWTXTRecord: Sendable {
    /// Maximum size in bytes of one key, its `=`, and its value together (RFC 6763 §6.1).
    static let maximumStringByteCount = 255
    /// Maximum size of a record on the wire in bytes: the length field has 16 bits (RFC 1035 §3.2.1).
    static let maximumByteCount = 65535

    /// A key with its value.
    struct Pair: Sendable {
        var key: String
        var entry: Entry
    }

    enum Content: Sendable {
        case pairs([Pair])
        /// Bytes that are not a sequence of length-prefixed strings.
        case opaque
    }

    var content: Content
    /// The bytes from which the record was created. `nil` after the program has changed the record.
    var source: Data?

    /// Creates a record from text values. An empty value becomes ``Entry/empty``.
    ///
    /// Entries are sorted by key. Pairs that a record cannot hold are left out (see ``setEntry(_:for:)``). If several keys differ only in
    /// case, only the first entry is kept.
    public init(_ dictionary: [String: String] = [:]) {
        content = .pairs([])
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where getEntry(for: key) == nil {
            setEntry(.string(value), for: key)
        }
    }

    /// Creates a record from its wire format.
    ///
    /// It ignores strings without a key, and strings that repeat a key (RFC 6763 §6.4). If the bytes are not a sequence
    /// of length-prefixed strings, the record keeps the bytes unchanged. Such a record has no entries, and no entries
    /// can be added.
    public init(_ data: Data) {
        content = Self.parse(data).map(Content.pairs) ?? .opaque
        source = data
    }

    /// The wire format: each entry after a length byte (RFC 6763 §6.1).
    ///
    /// If the record was created from bytes and has not been changed since, these are the same bytes. Otherwise the
    /// data is empty if there are no entries. On the network, a single zero byte is sent in place of empty data.
    public var data: Data {
        source ?? Self.serialize(pairs)
    }

    /// The entries with text values. Entries without a value and values that are not UTF-8 are left out.
    public var dictionary: [String: String] {
        var dictionary: [String: String] = [:]
        for pair in pairs {
            if let text = pair.entry.text { dictionary[pair.key] = text }
        }
        return dictionary
    }

    /// Returns the value of a key, or `nil` if the record does not have the key.
    public func getEntry(for key: String) -> NWTXTRecord.Entry? {
        firstIndex(of: key).map { pairs[$0].entry }
    }

    /// Adds a key with its value, or replaces the value and the spelling (case) of an existing key.
    ///
    /// - Returns: `false`, without a change, if the key is invalid: it is empty, or has `=` or characters other than
    ///   printable ASCII (RFC 6763 §6.4). Also `false` if key and value together exceed 255 bytes, if the record would
    ///   exceed 65535 bytes, or if the record holds bytes in another format.
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

    /// Removes a key. Succeeds also if the record does not have the key.
    ///
    /// - Returns: `false` if the key is invalid, or if the record holds bytes in another format.
    @discardableResult
    public mutating func removeEntry(key: String) -> Bool {
        guard case .pairs(var pairs) = content, Self.isValid(key: key) else { return false }
        guard let index = firstIndex(of: key) else { return true }
        pairs.remove(at: index)
        content = .pairs(pairs)
        source = nil
        return true
    }

    /// The value of a key as text; `nil` if the key is missing, has no value, or is not UTF-8. Setting `nil` removes the key.
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
    /// Returns whether both records have the same entries. The order of entries and the case of keys are ignored.
    ///
    /// Some records are not a sequence of length-prefixed strings. Two such records are equal if their bytes are equal.
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

    /// A textual description: the keys with their values, or only the number of bytes if the record is not a sequence
    /// of length-prefixed strings.
    public var debugDescription: String {
        switch content {
        case .pairs(let pairs):
            "{" + pairs.map { "\($0.key)\($0.entry.debugDescription)" }.joined(separator: ", ") + "}"
        case .opaque:
            "{\(source?.count ?? 0) bytes}"
        }
    }
}
