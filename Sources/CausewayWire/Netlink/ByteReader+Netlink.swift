extension ByteReader {
    /// Calls `visit` for each attribute in this reader's remaining bytes, in order.
    ///
    /// ```
    ///  0             15 16            31
    /// +-----------------+---------------+----------------
    /// |     length      |     type      | value, padded to 4 bytes
    /// +-----------------+---------------+----------------
    /// ```
    ///
    /// The length includes the four header bytes and excludes the padding. The two top bits in the type are flags
    /// (nested attribute, network byte order), which are cleared in the type passed to `visit`.
    mutating func readAttributes(
        _ visit: (_ type: UInt16, _ value: inout ByteReader) throws(WireError) -> Void
    ) throws(WireError) {
        // Use a separate reader for the attributes, because their padding counts from the start of the attribute list.
        var list = try readScope(remaining)
        while !list.isAtEnd {
            let start = list.position
            let length: UInt16 = try list.readHostInteger()
            let type: UInt16 = try list.readHostInteger()
            guard length >= 4 else { throw .invalid("attribute length", at: start) }
            var value = try list.readScope(Int(length) - 4)
            list.align(to: 4)
            try visit(type & 0x3FFF, &value)
        }
    }

    /// Reads the remaining bytes as text, up to the first zero byte if there is one. Replaces malformed UTF-8.
    mutating func readText() throws(WireError) -> String {
        let bytes = try readBytes(remaining)
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
