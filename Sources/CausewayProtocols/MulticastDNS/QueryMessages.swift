internal import CausewayWire

/// Puts questions and known answers into as few messages as will hold them.
enum QueryMessages {
    /// Known answers that find no room follow in messages without questions; all but the last say that more comes
    /// (RFC 6762 §7.2).
    static func make(_ questions: [DNSQuestion], knowing known: [DNSRecord], limit: Int) -> [[UInt8]] {
        guard !questions.isEmpty else { return [] }
        var messages: [[UInt8]] = []
        var writer = DNSMessageWriter([], limit: limit)
        for question in questions where !writer.add(question) {
            // What is known stands behind the last question: whoever answers an earlier one waits for it.
            if !known.isEmpty { writer.markTruncated() }
            messages.append(writer.finish())
            writer = DNSMessageWriter([], limit: limit)
            _ = writer.add(question)
        }
        for record in known where !writer.add(record, to: .answer, inMulticast: true) {
            writer.markTruncated()
            messages.append(writer.finish())
            writer = DNSMessageWriter([], limit: limit)
            _ = writer.add(record, to: .answer, inMulticast: true)
        }
        if !writer.isEmpty { messages.append(writer.finish()) }
        return messages
    }
}
