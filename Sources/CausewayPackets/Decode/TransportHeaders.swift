/// A UDP header (RFC 768). ``PacketBuilder`` fills in the fields that are `nil`.
public struct UDPHeader: Hashable, Sendable {
    /// Header length in bytes.
    public static let byteCount = 8
    /// The source port.
    public var sourcePort: UInt16
    /// The destination port.
    public var destinationPort: UInt16
    /// Header and payload length in bytes. If `nil`, the builder computes it.
    public var length: UInt16?
    /// The checksum. If `nil`, the builder computes it. Zero means no checksum, which IPv6 forbids outside tunnels (RFC 8200 §8.1).
    public var checksum: UInt16?

    /// Creates a header. The builder computes the length and the checksum.
    @inlinable
    public init(sourcePort: UInt16, destinationPort: UInt16) {
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
    }

    /// Reads a header at `offset`.
    ///
    /// - Throws: `WireError` if fewer than ``byteCount`` bytes remain.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        sourcePort = try bytes.u16(offset)
        destinationPort = try bytes.u16(offset &+ 2)
        length = try bytes.u16(offset &+ 4)
        checksum = try bytes.u16(offset &+ 6)
    }
}

/// A TCP header (RFC 9293 §3.1). ``PacketBuilder`` fills in the fields that are `nil`.
public struct TCPHeader: Hashable, Sendable {
    /// The source port.
    public var sourcePort: UInt16
    /// The destination port.
    public var destinationPort: UInt16
    /// The sequence number for the first payload byte, or for the SYN.
    public var sequence: UInt32 = 0
    /// The sequence number of the next byte that the sender expects to receive from its peer.
    public var acknowledgement: UInt32 = 0
    /// Header length in 4-byte units. If `nil`, the builder computes it from the options.
    public var dataOffset: UInt8?
    /// The control bits.
    public var flags: Flags
    /// The receive window, not scaled.
    public var window: UInt16 = 1024
    /// The checksum. If `nil`, the builder computes it.
    public var checksum: UInt16?
    /// The urgent pointer, valid if the URG flag is set.
    public var urgentPointer: UInt16 = 0
    /// The options, at most 40 bytes. The builder pads them with zeros to a multiple of four bytes.
    public var options: [UInt8] = []

    /// The control bits, including the three for congestion notification (RFC 3168 §6.1, RFC 3540 §9).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: UInt16
        /// Creates a set from its bits.
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// FIN: the sender has no more data.
        @inlinable public static var fin: Flags { Flags(rawValue: 1) }
        /// SYN: synchronizes sequence numbers.
        @inlinable public static var syn: Flags { Flags(rawValue: 2) }
        /// RST: aborts the connection.
        @inlinable public static var rst: Flags { Flags(rawValue: 4) }
        /// PSH: asks the receiver to pass the data to the application without delay.
        @inlinable public static var psh: Flags { Flags(rawValue: 8) }
        /// ACK: the acknowledgement number is valid.
        @inlinable public static var ack: Flags { Flags(rawValue: 16) }
        /// URG: the urgent pointer is valid.
        @inlinable public static var urg: Flags { Flags(rawValue: 32) }
        /// ECE: echoes a congestion mark (RFC 3168 §6.1).
        @inlinable public static var ece: Flags { Flags(rawValue: 64) }
        /// CWR: the sender reduced its congestion window (RFC 3168 §6.1).
        @inlinable public static var cwr: Flags { Flags(rawValue: 128) }
        /// NS: the ECN nonce sum (RFC 3540 §9).
        @inlinable public static var ns: Flags { Flags(rawValue: 256) }
    }

    /// Creates a header. The builder computes the data offset and the checksum.
    @inlinable
    public init(sourcePort: UInt16, destinationPort: UInt16, flags: Flags) {
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
        self.flags = flags
    }

    /// Header length in bytes, including padded options.
    public var byteCount: Int { 20 + (min(options.count, 40) + 3) / 4 * 4 }

    /// Reads a header at `offset`. If the bytes end within the options, only the options before the end are kept.
    ///
    /// - Throws: `WireError` if fewer than 20 bytes remain.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        sourcePort = try bytes.u16(offset)
        destinationPort = try bytes.u16(offset &+ 2)
        sequence = try bytes.u32(offset &+ 4)
        acknowledgement = try bytes.u32(offset &+ 8)
        let control = try bytes.u16(offset &+ 12)
        dataOffset = UInt8(control >> 12)
        flags = Flags(rawValue: control & 0x1FF)
        window = try bytes.u16(offset &+ 14)
        checksum = try bytes.u16(offset &+ 16)
        urgentPointer = try bytes.u16(offset &+ 18)
        let length = Int(control >> 12) * 4
        if length > 20 { options = bytes.clamped(offset &+ 20, offset &+ length).array }
    }
}
