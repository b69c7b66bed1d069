extension DNSName {
    /// Jumps that one name may make. Each jump of a sensible name brings a label, and there are at most 127.
    private static let jumpLimit = 127

    /// Reads a name that may point back into `message` (RFC 1035 §4.1.4).
    ///
    /// Every pointer must point before the place that the last one pointed to, so no row of them is endless.
    ///
    /// - Throws: ``WireError`` for pointers that point forwards or too often, for unknown kinds of labels, for names of more than
    ///   ``maximumByteCount`` bytes, and where bytes are missing.
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

    /// Returns where the name goes on, or `nil` at its end.
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
                throw .invalid("kind of a label", at: position)
            }
        }
    }
}
