/// A UDP header (RFC 768). For building, what is `nil` is filled in.
public struct UDPHeader: Hashable, Sendable {
    public static let byteCount = 8
    public var sourcePort: UInt16
    public var destinationPort: UInt16
    /// Bytes of header and content. `nil`: what there is.
    public var length: UInt16?
    /// `nil`: the right one. Zero means none was computed, which IPv6 forbids outside tunnels (RFC 8200 §8.1).
    public var checksum: UInt16?

    @inlinable
    public init(sourcePort: UInt16, destinationPort: UInt16) {
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
    }

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        sourcePort = try bytes.u16(offset)
        destinationPort = try bytes.u16(offset &+ 2)
        length = try bytes.u16(offset &+ 4)
        checksum = try bytes.u16(offset &+ 6)
    }
}

/// A TCP header (RFC 9293 §3.1). For building, what is `nil` is filled in.
public struct TCPHeader: Hashable, Sendable {
    public var sourcePort: UInt16
    public var destinationPort: UInt16
    public var sequence: UInt32 = 0
    public var acknowledgement: UInt32 = 0
    /// In units of four bytes. `nil`: what the options need.
    public var dataOffset: UInt8?
    public var flags: Flags
    public var window: UInt16 = 1024
    /// `nil`: the right one.
    public var checksum: UInt16?
    public var urgentPointer: UInt16 = 0
    /// Filled up with zeros to a multiple of four bytes when written; at most 40.
    public var options: [UInt8] = []

    /// The control bits, with the three of congestion notification (RFC 3168 §6.1, RFC 3540 §9).
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
        @inlinable public static var fin: Flags { Flags(rawValue: 1) }
        @inlinable public static var syn: Flags { Flags(rawValue: 2) }
        @inlinable public static var rst: Flags { Flags(rawValue: 4) }
        @inlinable public static var psh: Flags { Flags(rawValue: 8) }
        @inlinable public static var ack: Flags { Flags(rawValue: 16) }
        @inlinable public static var urg: Flags { Flags(rawValue: 32) }
        @inlinable public static var ece: Flags { Flags(rawValue: 64) }
        @inlinable public static var cwr: Flags { Flags(rawValue: 128) }
        @inlinable public static var ns: Flags { Flags(rawValue: 256) }
    }

    @inlinable
    public init(sourcePort: UInt16, destinationPort: UInt16, flags: Flags) {
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
        self.flags = flags
    }

    /// Bytes of header.
    public var byteCount: Int { 20 + (min(options.count, 40) + 3) / 4 * 4 }

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
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
