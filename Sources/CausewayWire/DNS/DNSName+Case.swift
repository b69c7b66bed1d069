extension DNSName {
    /// Whether the names are equal, including their case.
    package func isIdentical(to other: DNSName) -> Bool { wire == other.wire }

    /// Returns the name with random case for each letter. Responses repeat the name in this case, so an attacker who
    /// forges a response must also guess the case.
    package func withRandomCase(using random: inout some RandomNumberGenerator) -> DNSName {
        var bytes = wire
        var bits: UInt64 = 0
        for index in bytes.indices {
            if index & 63 == 0 { bits = random.next() }
            // Length bytes are below 64, so a length byte is never taken for a letter.
            guard (bytes[index] | 0x20) &- 0x61 < 26 else { continue }
            bytes[index] ^= UInt8(truncatingIfNeeded: bits >> UInt64(index & 63)) & 1 << 5
        }
        return DNSName(wire: bytes)
    }

    /// Restores the program's spelling of a name in a response.
    ///
    /// `original` is the queried name in the program's spelling. `sent` is the same name in random case, as it was
    /// sent. If the name in the response ends with labels of `sent` in exactly the same case, these labels are replaced
    /// by the labels of `original`. Names in a response often have the case of `sent`, because a compressed name points
    /// to the question.
    ///
    /// - Precondition: `sent` and `original` differ only in case.
    package func respelled(as original: DNSName, whereLike sent: DNSName) -> DNSName {
        if wire == sent.wire { return original }
        var start = wire.startIndex
        while wire[start] != 0 {
            let count = wire.count - start
            if count <= sent.wire.count, wire[start...].elementsEqual(sent.wire.suffix(count)) {
                return DNSName(wire: wire[..<start] + original.wire.suffix(count))
            }
            start += 1 + Int(wire[start])
        }
        return self
    }
}

extension DNSRecord {
    /// Returns a copy of the record in which ``DNSName/respelled(as:whereLike:)`` was applied to every name.
    package func respelled(as original: DNSName, whereLike sent: DNSName) -> DNSRecord {
        func respelled(_ name: DNSName) -> DNSName { name.respelled(as: original, whereLike: sent) }
        var record = self
        record.name = respelled(name)
        switch data {
        case .ipv4, .ipv6, .text, .opaque: break
        case .name(let target): record.data = .name(respelled(target))
        case .service(let priority, let weight, let port, let target):
            record.data = .service(priority: priority, weight: weight, port: port, target: respelled(target))
        case .mail(let preference, let exchange):
            record.data = .mail(preference: preference, exchange: respelled(exchange))
        case .authority(var authority):
            authority.server = respelled(authority.server)
            authority.mailbox = respelled(authority.mailbox)
            record.data = .authority(authority)
        case .next(let next, let types): record.data = .next(respelled(next), types: types)
        case .binding(var binding):
            binding.target = respelled(binding.target)
            record.data = .binding(binding)
        }
        return record
    }
}
