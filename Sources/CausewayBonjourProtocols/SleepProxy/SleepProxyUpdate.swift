internal import CausewayWire

/// Encodes DNS updates for a sleep proxy.
enum SleepProxyUpdate {
    /// The opcode UPDATE (RFC 2136 §1.3).
    static let operation: UInt8 = 5

    /// Encodes the records into as few update messages as possible. Returns the messages by their ID. Returns `nil` if
    /// there are no records or too many.
    static func messages(
        _ registration: SleepProxyClient.Registration, limit: Int, using random: inout some RandomNumberGenerator
    ) -> [UInt16: [UInt8]]? {
        var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: limit))
        extensions.options = [DNSLease.option(seconds: SleepProxyClient.leaseSeconds), registration.owner.option]
        var messages: [UInt16: [UInt8]] = [:]
        var rest = registration.records[...]
        while !rest.isEmpty {
            guard messages.count < SleepProxyClient.messageLimit else { return nil }
            var id = UInt16.random(in: .min ... .max, using: &random)
            while messages[id] != nil { id &+= 1 }
            guard let (bytes, count) = make(id, rest, extensions, limit: limit) else {
                // Leave out a record that is too large for one message, so that the other records can be registered.
                rest = rest.dropFirst()
                continue
            }
            messages[id] = bytes
            rest = rest.dropFirst(count)
        }
        return messages.isEmpty ? nil : messages
    }

    /// Encodes as many records as fit into one message. Returns `nil` if not even the first record fits.
    ///
    /// The zone is `local` (RFC 2136 §2.3). Unique records keep the cache-flush bit. This bit asks the proxy to defend
    /// them.
    static func make(
        _ id: UInt16, _ records: ArraySlice<DNSRecord>, _ extensions: DNSExtensions, limit: Int
    ) -> ([UInt8], count: Int)? {
        let room = extensions.byteCount
        var writer = DNSMessageWriter(id: id, [], operation: operation, limit: limit)
        guard writer.add(DNSQuestion(.local, .soa)) else { return nil }
        var count = 0
        for record in records {
            var longer = writer
            guard longer.add(record, to: .authority), longer.byteCount + room <= limit else { break }
            writer = longer
            count += 1
        }
        guard count > 0, writer.add(extensions) else { return nil }
        return (writer.finish(), count)
    }
}
