extension DNSMessage {
    /// Returns the message in wire format.
    ///
    /// - Parameter limit: Maximum size in bytes. If a record does not fit, this record and all later records are left
    ///   out, and the TC flag is set (RFC 2181 §9).
    package func encoded(limit: Int = 65_535) -> [UInt8] {
        var writer = DNSMessageWriter(id: id, flags, operation: operation, code: responseCode, limit: limit)
        var isWhole = questions.allSatisfy { writer.add($0) }
        isWhole = isWhole && answers.allSatisfy { writer.add($0, to: .answer) }
        isWhole = isWhole && authorities.allSatisfy { writer.add($0, to: .authority) }
        isWhole = isWhole && additionals.allSatisfy { writer.add($0, to: .additional) }
        if let extensions, isWhole { isWhole = writer.add(extensions, code: responseCode) }
        if !isWhole { writer.markTruncated() }
        return writer.finish()
    }
}

extension DNSRecordData {
    /// The record data without name compression, to compare simultaneous probes (RFC 6762 §8.2).
    package var canonical: [UInt8] {
        var writer = DNSMessageWriter([], limit: .max)
        // Drop the message header (12 bytes) and the start of the record (11 bytes): 1 byte for the root name, and 10
        // bytes for type, class, TTL and length together.
        _ = writer.add(DNSRecord(.root, DNSRecordType(rawValue: 0), timeToLive: 0, self), to: .answer)
        return Array(writer.finish().dropFirst(12 + 11))
    }
}
