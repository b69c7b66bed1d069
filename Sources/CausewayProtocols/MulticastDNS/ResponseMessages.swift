internal import CausewayWire

/// Puts answers into as few messages as will hold them.
enum ResponseMessages {
    /// A record too large for a message goes alone in one of its own (RFC 6762 §17); additional ones only where there is room.
    static func make(_ answers: [DNSRecord], _ additionals: [DNSRecord]) -> [[UInt8]] {
        guard !answers.isEmpty else { return [] }
        var messages: [[UInt8]] = []
        var writer = empty()
        for answer in answers where !writer.add(answer, to: .answer, inMulticast: true) {
            if !writer.isEmpty { messages.append(writer.finish()) }
            writer = empty()
            if !writer.add(answer, to: .answer, inMulticast: true) {
                var large = DNSMessageWriter(
                    [.isResponse, .isAuthoritative], limit: MulticastDNS.largestMessageByteCount)
                if large.add(answer, to: .answer, inMulticast: true) { messages.append(large.finish()) }
            }
        }
        for additional in additionals { _ = writer.add(additional, to: .additional, inMulticast: true) }
        if !writer.isEmpty { messages.append(writer.finish()) }
        return messages
    }

    private static func empty() -> DNSMessageWriter {
        DNSMessageWriter([.isResponse, .isAuthoritative], limit: MulticastDNS.messageByteLimit)
    }
}

/// Puts probes into as few messages as will hold them: all of a registration's stands in one.
enum ProbeMessages {
    /// - Parameter acceptsUnicast: Whether a registration's questions may be answered by unicast.
    static func make(_ registrations: [(MulticastRegistration, acceptsUnicast: Bool)]) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var questions: [DNSQuestion] = []
        var proposals: [DNSRecord] = []
        for (registration, acceptsUnicast) in registrations {
            let names = registration.uniqueNames.map { DNSQuestion($0, .any, acceptsUnicast: acceptsUnicast) }
            let more = registration.proposals
            let fits = write(questions + names, proposals + more, MulticastDNS.messageByteLimit) != nil
            if !fits, !questions.isEmpty,
                let message = write(questions, proposals, MulticastDNS.largestMessageByteCount)
            {
                messages.append(message)
                (questions, proposals) = ([], [])
            }
            questions += names
            proposals += more
        }
        if !questions.isEmpty, let message = write(questions, proposals, MulticastDNS.largestMessageByteCount) {
            messages.append(message)
        }
        return messages
    }

    private static func write(_ questions: [DNSQuestion], _ proposals: [DNSRecord], _ limit: Int) -> [UInt8]? {
        var writer = DNSMessageWriter([], limit: limit)
        for question in questions where !writer.add(question) { return nil }
        for record in proposals where !writer.add(record, to: .authority, inMulticast: true) { return nil }
        return writer.finish()
    }
}
