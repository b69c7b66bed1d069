internal import CausewayTypes
internal import CausewayWire

/// A place as SOCKS 5 writes it (RFC 1928 §5):
///
/// ```
/// +------+----------------------------------------------+--------+
/// | kind | 4 bytes (1), 16 bytes (4), or, of kind 3,  |  port  |
/// |      | a length and as many bytes of a name        |        |
/// +------+----------------------------------------------+--------+
/// ```
extension TunnelDestination {
    /// `nil` for a name that is empty or longer than 255 bytes.
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

    /// How many bytes the place takes that begins with these two. `nil` for a kind that does not exist.
    static func socksByteCount(_ head: ArraySlice<UInt8>) -> Int? {
        guard let kind = head.first, head.count >= 2 else { return nil }
        switch kind {
        case 1: return 1 + 4 + 2
        case 3: return 1 + 1 + Int(head[head.startIndex + 1]) + 2
        case 4: return 1 + 16 + 2
        default: return nil
        }
    }

    /// Reads a place that is nothing but one. `nil` for anything else, and for a name that no host can have.
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
