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
    static func make(_ registrations: [MulticastRegistration]) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var names: [DNSName] = []
        var proposals: [DNSRecord] = []
        for registration in registrations {
            let more = registration.proposals
            let fits = write(names + registration.uniqueNames, proposals + more, MulticastDNS.messageByteLimit) != nil
            if !fits, !names.isEmpty, let message = write(names, proposals, MulticastDNS.largestMessageByteCount) {
                messages.append(message)
                (names, proposals) = ([], [])
            }
            names += registration.uniqueNames
            proposals += more
        }
        if !names.isEmpty, let message = write(names, proposals, MulticastDNS.largestMessageByteCount) {
            messages.append(message)
        }
        return messages
    }

    private static func write(_ names: [DNSName], _ proposals: [DNSRecord], _ limit: Int) -> [UInt8]? {
        var writer = DNSMessageWriter([], limit: limit)
        for name in names where !writer.add(DNSQuestion(name, .any, acceptsUnicast: true)) { return nil }
        for record in proposals where !writer.add(record, to: .authority, inMulticast: true) { return nil }
        return writer.finish()
    }
}
