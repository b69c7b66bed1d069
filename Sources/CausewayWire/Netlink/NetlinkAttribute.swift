extension ByteReader {
    /// Visits the attributes that fill the rest of this reader, in order.
    ///
    /// ```
    ///  0             15 16            31
    /// +-----------------+---------------+----------------
    /// |     length      |     type      | value, padded to 4 bytes
    /// +-----------------+---------------+----------------
    /// ```
    ///
    /// The length counts the four bytes in front of the value and not the padding. The two top bits of the type say
    /// that the value is itself a list and that it is in network byte order; they are no part of the number passed on.
    mutating func readAttributes(
        _ visit: (_ type: UInt16, _ value: inout ByteReader) throws(WireError) -> Void
    ) throws(WireError) {
        // A reader of its own, because padding is counted from where the list begins.
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

    /// Reads the rest as text that ends at the first zero byte, if there is one. Malformed UTF-8 is repaired.
    mutating func readText() throws(WireError) -> String {
        let bytes = try readBytes(remaining)
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
