internal import CausewayWire

/// Puts answers into as few messages as will hold them.
enum ResponseMessages {
    /// A record too large for a message goes alone in one of its own (RFC 6762 §17); additional ones only where there is room.
    ///
    /// - Parameter extensions: What each of them says of its sender.
    static func make(
        _ answers: [DNSRecord], _ additionals: [DNSRecord], limit: Int, _ extensions: DNSExtensions? = nil
    ) -> [[UInt8]] {
        guard !answers.isEmpty else { return [] }
        guard let extensions else { return make(answers, additionals, limit) }
        return make(answers, additionals, limit - extensions.byteCount).map { extensions.appended(to: $0) }
    }

    private static func make(_ answers: [DNSRecord], _ additionals: [DNSRecord], _ limit: Int) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var writer = empty(limit)
        for answer in answers where !writer.add(answer, to: .answer, inMulticast: true) {
            if !writer.isEmpty { messages.append(writer.finish()) }
            writer = empty(limit)
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

    private static func empty(_ limit: Int) -> DNSMessageWriter {
        DNSMessageWriter([.isResponse, .isAuthoritative], limit: limit)
    }
}

/// Puts probes into as few messages as will hold them: all of a registration's stands in one.
enum ProbeMessages {
    typealias Probe = (registration: MulticastRegistration, acceptsUnicast: Bool)

    static func make(_ probes: [Probe], limit: Int, _ extensions: DNSExtensions?) -> [[UInt8]] {
        guard let extensions else { return make(probes, limit) }
        return make(probes, limit - extensions.byteCount).map { extensions.appended(to: $0) }
    }

    private static func make(_ probes: [Probe], _ limit: Int) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var rest = probes[...]
        // Messages that follow each other hold about as many: the next is tried with as many as the last held.
        var count = 1
        while !rest.isEmpty {
            count = min(count, rest.count)
            var message = write(rest.prefix(count), limit)
            while message == nil, count > 1 {
                count -= 1
                message = write(rest.prefix(count), limit)
            }
            while message != nil, count < rest.count, let larger = write(rest.prefix(count + 1), limit) {
                message = larger
                count += 1
            }
            // What alone is too large goes alone (RFC 6762 §17).
            message = message ?? write(rest.prefix(1), MulticastDNS.largestMessageByteCount)
            if let message { messages.append(message) }
            rest = rest.dropFirst(count)
        }
        return messages
    }

    private static func write(_ probes: ArraySlice<Probe>, _ limit: Int) -> [UInt8]? {
        var writer = DNSMessageWriter([], limit: limit)
        for (registration, acceptsUnicast) in probes {
            for name in registration.uniqueNames {
                guard writer.add(DNSQuestion(name, .any, acceptsUnicast: acceptsUnicast)) else { return nil }
            }
        }
        for (registration, _) in probes {
            for record in registration.proposals {
                guard writer.add(record, to: .authority, inMulticast: true) else { return nil }
            }
        }
        return writer.finish()
    }
}

extension DNSExtensions {
    /// What they take in a message.
    var byteCount: Int { 11 + options.reduce(0) { $0 + 4 + $1.value.count } }

    /// A message with them behind everything else.
    fileprivate func appended(to message: [UInt8]) -> [UInt8] {
        var writer = DNSMessageWriter([], limit: .max)
        // Without a name before it the pseudo-record is the same in every message.
        guard message.count >= 12, writer.add(self) else { return message }
        var bytes = message + writer.finish().dropFirst(12)
        let count = (UInt16(bytes[10]) << 8 | UInt16(bytes[11])) + 1
        (bytes[10], bytes[11]) = (UInt8(count >> 8), UInt8(truncatingIfNeeded: count))
        return bytes
    }
}
