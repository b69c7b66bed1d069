internal import CausewayWire

/// Encodes questions and known answers into as few messages as possible.
enum QueryMessages {
    /// Encodes questions and known answers. Known answers that do not fit into the first message follow in messages
    /// without questions. All messages except the final message have the TC bit, which means that more known answers
    /// follow (RFC 6762 §7.2).
    static func make(_ questions: [DNSQuestion], knowing known: [DNSRecord], limit: Int) -> [[UInt8]] {
        guard !questions.isEmpty else { return [] }
        var messages: [[UInt8]] = []
        var writer = DNSMessageWriter([], limit: limit)
        for question in questions where !writer.add(question) {
            // The known answers follow the final question. So set the TC bit in this earlier message as well. Other
            // hosts then wait for the known answers before they answer these questions (RFC 6762 §7.2).
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
