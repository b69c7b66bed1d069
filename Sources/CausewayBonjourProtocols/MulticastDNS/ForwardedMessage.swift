internal import CausewayTypes
internal import CausewayWire

/// A unicast message that one process forwards to the other processes on this host.
///
/// If several processes share port 5353, the kernel delivers a unicast message to only one of their sockets
/// (RFC 6762 §15.1). That process sends the message to the multicast group with hop limit 0, so that it reaches all
/// processes on this host and no other host. A header with an unassigned opcode precedes the message, so other
/// multicast DNS programs ignore it (RFC 6762 §18.3).
///
/// ```
///  0             15 16            31
/// +-----------------+---------------+
/// |   DNS header of 12 bytes with   |
/// |   opcode 15 and no records      |
/// +---------------------------------+
/// |     "cwf1": the format           |
/// +---------------------------------+
/// |   8 bytes: random number of     |
/// |   the forwarding process        |
/// +--------+------------------------+
/// | 4 or 6 | sender's address, port |
/// +--------+------------------------+
/// |   the message of the sender     |
/// +---------------------------------+
/// ```
package struct ForwardedMessage: Equatable, Sendable {
    /// Maximum size in bytes of a message to forward. RFC 6762 §17 permits packets up to this size, headers included.
    static let messageByteLimit = 9_000
    private static let header: [UInt8] = [0, 0, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 0] + Array("cwf1".utf8)

    /// The original sender.
    package var peer: MulticastPeer
    /// A random number that identifies the forwarding process. That process also receives its own forwarded message,
    /// and uses this number to discard it.
    package var origin: UInt64
    package var message: [UInt8]

    /// Creates a message to forward. Returns `nil` if it is longer than ``messageByteLimit``.
    package init?(_ message: Span<UInt8>, from peer: MulticastPeer, origin: UInt64) {
        guard message.count <= Self.messageByteLimit else { return nil }
        self.peer = peer
        self.origin = origin
        self.message = message.indices.map { message[$0] }
    }

    /// Parses a forwarded message. Returns `nil` for other messages.
    package init?(parsing bytes: Span<UInt8>) {
        guard bytes.count > Self.header.count, Self.header.indices.allSatisfy({ bytes[$0] == Self.header[$0] }) else {
            return nil
        }
        var reader = ByteReader(bytes)
        guard let parsed = try? Self(reading: &reader) else { return nil }
        self = parsed
    }

    private init(reading reader: inout ByteReader) throws(WireError) {
        try reader.skip(Self.header.count)
        origin = try reader.readInteger()
        let start = reader.position
        let family: UInt8 = try reader.readInteger()
        let address: InternetAddress
        switch family {
        case 4: address = .ipv4(IPv4Address(bits: try reader.readInteger()))
        case 6: address = .ipv6(IPv6Address(high: try reader.readInteger(), low: try reader.readInteger()))
        default: throw .invalid("address family", at: start)
        }
        peer = MulticastPeer(address, port: try reader.readInteger())
        message = try reader.readBytes(reader.remaining)
    }

    package var encoded: [UInt8] {
        var bytes = Self.header
        Self.append(origin, to: &bytes)
        switch peer.address {
        case .ipv4(let address):
            bytes.append(4)
            Self.append(address.bits, to: &bytes)
        case .ipv6(let address):
            bytes.append(6)
            Self.append(address.high, to: &bytes)
            Self.append(address.low, to: &bytes)
        }
        Self.append(peer.port, to: &bytes)
        return bytes + message
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
