extension DNSName {
    /// The maximum number of pointers to follow for one name. A name has at most 127 labels, and a sender needs at most
    /// one pointer per label.
    private static let jumpLimit = 127

    /// Parses a name that may contain compression pointers into `message` (RFC 1035 §4.1.4).
    ///
    /// Each pointer must lead to a position before the previous pointer's target, so a pointer chain always ends.
    ///
    /// - Throws: ``WireError`` for forward pointers, too many pointers, unknown label types, names longer than
    ///   ``maximumByteCount`` bytes, and missing bytes.
    package init(parsing reader: inout ByteReader, in message: borrowing RawSpan) throws(WireError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        var limit = reader.position
        var jumps = 0
        var target = try Self.readLabels(&reader, &bytes)
        while let next = target {
            jumps += 1
            guard next < limit, jumps <= Self.jumpLimit, next < message.byteCount else {
                throw .invalid("compression pointer", at: limit)
            }
            limit = next
            var jump = ByteReader(message.extracting(next..<message.byteCount), base: next)
            target = try Self.readLabels(&jump, &bytes)
        }
        self.init(wire: bytes)
    }

    /// Reads labels up to the end of the name or the next pointer. Returns the pointer's target, or `nil` at the end of
    /// the name.
    private static func readLabels(_ reader: inout ByteReader, _ bytes: inout [UInt8]) throws(WireError) -> Int? {
        while true {
            let position = reader.position
            let length = try reader.readInteger(as: UInt8.self)
            switch length & 0xC0 {
            case 0xC0:
                return Int(length & 0x3F) << 8 | Int(try reader.readInteger(as: UInt8.self))
            case 0:
                bytes.append(length)
                if length == 0 { return nil }
                guard bytes.count + Int(length) <= maximumByteCount else {
                    throw .invalid("length of a name", at: position)
                }
                try reader.readBytes(Int(length), appendingTo: &bytes)
            default:
                throw .invalid("type of a label", at: position)
            }
        }
    }
}
