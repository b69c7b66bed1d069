extension DNSMessage {
    /// The message in its wire form.
    ///
    /// - Parameter limit: The most bytes. What does not fit is left out from there on, and the message says that it is
    ///   truncated (RFC 2181 §9).
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
    /// The content as it is compared when two hosts want one name: no name is compressed (RFC 6762 §8.2).
    package var canonical: [UInt8] {
        var writer = DNSMessageWriter([], limit: .max)
        // A root's record begins with 1 byte of name, and 10 of type, class, time and length.
        _ = writer.add(DNSRecord(.root, DNSRecordType(rawValue: 0), timeToLive: 0, self), to: .answer)
        return Array(writer.finish().dropFirst(12 + 11))
    }
}
