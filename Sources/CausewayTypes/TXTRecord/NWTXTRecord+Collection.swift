extension NWTXTRecord: Collection {
    /// A key and its value.
    public typealias Element = (key: String, value: NWTXTRecord.Entry)

    /// The position of an entry in a record.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Index: Comparable, Sendable {
        fileprivate let offset: Int

        /// Whether the first position is before the second.
        public static func < (lhs: NWTXTRecord.Index, rhs: NWTXTRecord.Index) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    /// The position of the first entry.
    public var startIndex: NWTXTRecord.Index { Index(offset: 0) }

    /// The position after the final entry.
    public var endIndex: NWTXTRecord.Index { Index(offset: pairs.count) }

    /// Returns the position after `i`.
    public func index(after i: NWTXTRecord.Index) -> NWTXTRecord.Index {
        Index(offset: i.offset + 1)
    }

    /// The key and value at a position.
    public subscript(position: NWTXTRecord.Index) -> NWTXTRecord.Element {
        let pair = pairs[position.offset]
        return (pair.key, pair.entry)
    }
}
