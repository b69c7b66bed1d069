internal import CausewayTypes
internal import CausewayWire

/// The SOCKS 5 encoding of a destination (RFC 1928 §5):
///
/// ```
/// +------+----------------------------------------------+--------+
/// | kind | 4 bytes (kind 1), 16 bytes (kind 4), or      |  port  |
/// |      | a length byte and that many bytes (kind 3)   |        |
/// +------+----------------------------------------------+--------+
/// ```
extension TunnelDestination {
    /// The encoded destination; `nil` if the name is empty or longer than 255 bytes.
    var socksBytes: [UInt8]? {
        let place: [UInt8]
        switch host {
        case .address(.ipv4(let address)): place = [1] + Self.bytes(address.bits)
        case .address(.ipv6(let address)): place = [4] + Self.bytes(address.high) + Self.bytes(address.low)
        case .name(let name):
            let bytes = Array(name.utf8)
            guard (1...255).contains(bytes.count) else { return nil }
            place = [3, UInt8(bytes.count)] + bytes
        }
        return place + Self.bytes(port)
    }

    /// Returns an encoded destination's length, given at least its first two bytes; `nil` for an unknown address kind.
    static func socksByteCount(_ head: ArraySlice<UInt8>) -> Int? {
        guard let kind = head.first, head.count >= 2 else { return nil }
        switch kind {
        case 1: return 1 + 4 + 2
        case 3: return 1 + 1 + Int(head[head.startIndex + 1]) + 2
        case 4: return 1 + 16 + 2
        default: return nil
        }
    }

    /// Decodes a destination. Returns `nil` if the bytes are malformed, if bytes follow the destination, or if the host name is invalid.
    init?(socksBytes bytes: ArraySlice<UInt8>) {
        guard let count = Self.socksByteCount(bytes), bytes.count == count else { return nil }
        let place = Array(bytes.dropFirst().dropLast(2))
        let port = UInt16(bytes[bytes.endIndex - 2]) << 8 | UInt16(bytes[bytes.endIndex - 1])
        switch bytes[bytes.startIndex] {
        case 1: self.init(.address(.ipv4(IPv4Address(bits: UInt32(Self.number(place[...]))))), port: port)
        case 4:
            let address = IPv6Address(high: Self.number(place.prefix(8)), low: Self.number(place.dropFirst(8)))
            self.init(.address(.ipv6(address)), port: port)
        default:
            guard let text = String(validating: place.dropFirst(), as: UTF8.self), let (name, _) = DNSName.host(text)
            else { return nil }
            self.init(.name(String(name.description.dropLast())), port: port)
        }
    }

    private static func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
