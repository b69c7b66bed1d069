internal import CausewayWire

/// Encodes answers into as few messages as possible.
enum ResponseMessages {
    /// Encodes the answers. A record that is too large for a message gets its own message (RFC 6762 §17). Additional
    /// records fill the space left in the final message.
    ///
    /// - Parameter extensions: The OPT record for each message.
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

/// Encodes probes into few messages. A registration's questions and proposed records are in the same message, as the
/// tie-break needs (RFC 6762 §8.2).
enum ProbeMessages {
    typealias Probe = (registration: MulticastRegistration, acceptsUnicast: Bool)

    static func make(_ probes: [Probe], limit: Int, _ extensions: DNSExtensions?) -> [[UInt8]] {
        guard let extensions else { return make(probes, limit) }
        return make(probes, limit - extensions.byteCount).map { extensions.appended(to: $0) }
    }

    private static func make(_ probes: [Probe], _ limit: Int) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var rest = probes[...]
        // Each message has room for about as many probes as the message before it. So try this number first.
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
            // A probe that is too large for a message of `limit` bytes gets its own larger message (RFC 6762 §17).
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
    /// The OPT record's size in bytes.
    var byteCount: Int { 11 + options.reduce(0) { $0 + 4 + $1.value.count } }

    /// Returns the message with the OPT record appended and ARCOUNT increased.
    fileprivate func appended(to message: [UInt8]) -> [UInt8] {
        var writer = DNSMessageWriter([], limit: .max)
        // The OPT record has no compressed name, so its encoding is the same in every message.
        guard message.count >= 12, writer.add(self) else { return message }
        var bytes = message + writer.finish().dropFirst(12)
        let count = (UInt16(bytes[10]) << 8 | UInt16(bytes[11])) + 1
        (bytes[10], bytes[11]) = (UInt8(count >> 8), UInt8(truncatingIfNeeded: count))
        return bytes
    }
}
