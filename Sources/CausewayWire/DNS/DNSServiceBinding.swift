package import CausewayTypes

/// An SVCB or HTTPS record's content: a service's name, protocols, port and addresses (RFC 9460 §2).
package struct DNSServiceBinding: Hashable, Sendable {
    /// A service parameter key.
    package struct Key: RawRepresentable, Hashable, Comparable, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let mandatory = Key(rawValue: 0)
        package static let applicationProtocols = Key(rawValue: 1)
        package static let noDefaultProtocol = Key(rawValue: 2)
        package static let port = Key(rawValue: 3)
        package static let ipv4Hints = Key(rawValue: 4)
        package static let encryptedHello = Key(rawValue: 5)
        package static let ipv6Hints = Key(rawValue: 6)

        package static func < (left: Key, right: Key) -> Bool { left.rawValue < right.rawValue }
    }

    /// The priority; 0 makes the record an alias for ``target``.
    package var priority: UInt16
    /// The target name. The root name means the record's own name.
    package var target: DNSName
    /// The parameters in strictly ascending key order.
    package private(set) var parameters: [(key: Key, value: [UInt8])]

    package init(priority: UInt16, target: DNSName, parameters: [Key: [UInt8]] = [:]) {
        self.priority = priority
        self.target = target
        self.parameters = parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Parses a record's content.
    ///
    /// - Throws: ``WireError`` if keys are out of order or a length exceeds the record.
    init(parsing reader: inout ByteReader, in message: borrowing RawSpan) throws(WireError) {
        priority = try reader.readInteger()
        target = try DNSName(parsing: &reader, in: message)
        parameters = []
        while !reader.isAtEnd {
            let position = reader.position
            let key = Key(rawValue: try reader.readInteger())
            if let last = parameters.last, last.key >= key { throw .invalid("order of parameters", at: position) }
            let count: UInt16 = try reader.readInteger()
            parameters.append((key, try reader.readBytes(Int(count))))
        }
    }

    package subscript(key: Key) -> [UInt8]? { parameters.first { $0.key == key }?.value }

    /// ALPN identifiers in the service's preference order (RFC 9460 §7.1). Empty if the value is malformed.
    package var applicationProtocols: [[UInt8]] {
        var rest = (self[.applicationProtocols] ?? [])[...]
        var result: [[UInt8]] = []
        while let length = rest.popFirst() {
            guard length > 0, rest.count >= length else { return [] }
            result.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return result
    }

    package var port: UInt16? {
        guard let value = self[.port], value.count == 2 else { return nil }
        return UInt16(value[0]) << 8 | UInt16(value[1])
    }

    /// The addresses to use until the address records arrive (RFC 9460 §7.3).
    package var ipv4Hints: [IPv4Address] {
        chunks(of: 4, .ipv4Hints).map { chunk in IPv4Address(bits: UInt32(truncatingIfNeeded: Self.number(chunk))) }
    }

    package var ipv6Hints: [IPv6Address] {
        chunks(of: 16, .ipv6Hints).map { chunk in
            IPv6Address(high: Self.number(chunk.prefix(8)), low: Self.number(chunk.suffix(8)))
        }
    }

    /// Whether the record declares an unknown parameter mandatory. Such a record must not be used (RFC 9460 §8).
    package var demandsUnknown: Bool {
        chunks(of: 2, .mandatory).contains { Self.number($0) > UInt64(Key.ipv6Hints.rawValue) }
    }

    private func chunks(of size: Int, _ key: Key) -> [ArraySlice<UInt8>] {
        guard let value = self[key], value.count % size == 0 else { return [] }
        return stride(from: 0, to: value.count, by: size).map { value[$0..<($0 + size)] }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    package static func == (left: Self, right: Self) -> Bool {
        left.priority == right.priority && left.target == right.target
            && left.parameters.elementsEqual(right.parameters) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(priority)
        hasher.combine(target)
        for (key, value) in parameters {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}
