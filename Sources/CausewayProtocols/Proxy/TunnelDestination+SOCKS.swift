internal import CausewayTypes
internal import CausewayWire

/// A place as SOCKS 5 writes it (RFC 1928 §5):
///
/// ```
/// +------+----------------------------------------------+--------+
/// | kind | 4 octets (1), 16 octets (4), or, of kind 3,  |  port  |
/// |      | a length and as many octets of a name        |        |
/// +------+----------------------------------------------+--------+
/// ```
extension TunnelDestination {
    /// `nil` for a name that is empty or longer than 255 octets.
    var socksOctets: [UInt8]? {
        let place: [UInt8]
        switch host {
        case .address(.ipv4(let address)): place = [1] + Self.octets(address.bits)
        case .address(.ipv6(let address)): place = [4] + Self.octets(address.high) + Self.octets(address.low)
        case .name(let name):
            let octets = Array(name.utf8)
            guard (1...255).contains(octets.count) else { return nil }
            place = [3, UInt8(octets.count)] + octets
        }
        return place + Self.octets(port)
    }

    /// How many octets the place takes that begins with these two. `nil` for a kind that does not exist.
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
    init?(socksOctets octets: ArraySlice<UInt8>) {
        guard let count = Self.socksByteCount(octets), octets.count == count else { return nil }
        let place = Array(octets.dropFirst().dropLast(2))
        let port = UInt16(octets[octets.endIndex - 2]) << 8 | UInt16(octets[octets.endIndex - 1])
        switch octets[octets.startIndex] {
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

    private static func octets<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
        stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
}
