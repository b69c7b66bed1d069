internal import CausewayTypes

extension DNSRecordData {
    /// Parses a record's content. Unknown types and malformed content become ``opaque(_:)``.
    init(
        parsing content: consuming ByteReader, _ type: DNSRecordType, in message: borrowing RawSpan,
        _ names: inout KnownNames
    ) {
        var reader = copy content
        if let known = try? DNSRecordData(decoding: &reader, type, in: message, &names), reader.isAtEnd {
            self = known
        } else {
            self = .opaque((try? content.readBytes(content.remaining)) ?? [])
        }
    }

    /// Parses uncompressed content. Returns `nil` if the type is known and the content is malformed.
    package init?(content: [UInt8], of type: DNSRecordType) {
        let message = unsafe content.span.bytes
        var reader = ByteReader(message)
        do {
            var names = KnownNames()
            guard let known = try DNSRecordData(decoding: &reader, type, in: message, &names) else {
                self = .opaque(content)
                return
            }
            guard reader.isAtEnd else { return nil }
            self = known
        } catch {
            return nil
        }
    }

    /// Parses content with a known type. Returns `nil` for unknown types.
    private init?(
        decoding reader: inout ByteReader, _ type: DNSRecordType, in message: borrowing RawSpan,
        _ names: inout KnownNames
    ) throws(WireError) {
        switch type {
        case .a:
            self = .ipv4(IPv4Address(bits: try reader.readInteger()))
        case .aaaa:
            let high: UInt64 = try reader.readInteger()
            self = .ipv6(IPv6Address(high: high, low: try reader.readInteger()))
        case .ptr, .cname, .ns, .dname:
            self = .name(try names.read(&reader, in: message))
        case .srv:
            let priority: UInt16 = try reader.readInteger()
            let weight: UInt16 = try reader.readInteger()
            let port: UInt16 = try reader.readInteger()
            // The name may be compressed, so accept this. Multicast DNS allows senders to compress it. Unicast DNS
            // forbids this, but some senders do it anyway (RFC 6762 §18.14).
            let target = try names.read(&reader, in: message)
            self = .service(priority: priority, weight: weight, port: port, target: target)
        case .txt:
            self = .text(try Self.strings(&reader))
        case .mx:
            let preference: UInt16 = try reader.readInteger()
            self = .mail(preference: preference, exchange: try DNSName(parsing: &reader, in: message))
        case .soa:
            self = .authority(try DNSAuthority(parsing: &reader, in: message))
        case .nsec:
            let next = try DNSName(parsing: &reader, in: message)
            self = .next(next, types: try Self.types(&reader))
        case .svcb, .https:
            self = .binding(try DNSServiceBinding(parsing: &reader, in: message))
        default:
            return nil
        }
    }

    /// Reads length-prefixed strings to the end of the content (RFC 1035 §3.3.14). Content without any string counts as one empty string
    /// (RFC 6763 §6.1).
    private static func strings(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(reader.remaining)
        while !reader.isAtEnd {
            let count: UInt8 = try reader.readInteger()
            result.append(count)
            try reader.readBytes(Int(count), appendingTo: &result)
        }
        return result.isEmpty ? [0] : result
    }

    /// Reads a type bitmap: windows of up to 32 bytes, in ascending order, with one bit per type (RFC 4034 §4.1.2).
    private static func types(_ reader: inout ByteReader) throws(WireError) -> [DNSRecordType] {
        var types: [DNSRecordType] = []
        var last = -1
        while !reader.isAtEnd {
            let position = reader.position
            let window: UInt8 = try reader.readInteger()
            guard last < Int(window) else { throw .invalid("order of type bitmaps", at: position) }
            last = Int(window)
            let count: UInt8 = try reader.readInteger()
            guard (1...32).contains(count) else { throw .invalid("length of a type bitmap", at: position) }
            for (index, byte) in try reader.readBytes(Int(count)).enumerated() where byte != 0 {
                for bit in 0..<8 where byte & (0x80 >> bit) != 0 {
                    types.append(DNSRecordType(rawValue: UInt16(window) << 8 | UInt16(index * 8 + bit)))
                }
            }
        }
        return types
    }
}

extension DNSAuthority {
    fileprivate init(parsing reader: inout ByteReader, in message: borrowing RawSpan) throws(WireError) {
        server = try DNSName(parsing: &reader, in: message)
        mailbox = try DNSName(parsing: &reader, in: message)
        serial = try reader.readInteger()
        refresh = try reader.readInteger()
        retry = try reader.readInteger()
        expire = try reader.readInteger()
        minimum = try reader.readInteger()
    }
}
