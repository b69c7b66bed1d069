public import CausewayTypes

/// The protocol number in an IP header.
public struct IPProtocolNumber: RawRepresentable, Hashable, Sendable {
    /// The number assigned by IANA.
    public var rawValue: UInt8
    /// Creates a protocol number.
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// ICMP for IPv4 (1).
    @inlinable public static var icmp: IPProtocolNumber { IPProtocolNumber(rawValue: 1) }
    /// IGMP (2).
    @inlinable public static var igmp: IPProtocolNumber { IPProtocolNumber(rawValue: 2) }
    /// TCP (6).
    @inlinable public static var tcp: IPProtocolNumber { IPProtocolNumber(rawValue: 6) }
    /// UDP (17).
    @inlinable public static var udp: IPProtocolNumber { IPProtocolNumber(rawValue: 17) }
    /// GRE (47).
    @inlinable public static var gre: IPProtocolNumber { IPProtocolNumber(rawValue: 47) }
    /// ICMPv6 (58).
    @inlinable public static var icmp6: IPProtocolNumber { IPProtocolNumber(rawValue: 58) }
    /// SCTP (132).
    @inlinable public static var sctp: IPProtocolNumber { IPProtocolNumber(rawValue: 132) }
}

/// An IPv4 header (RFC 791 §3.1). ``PacketBuilder`` fills in the fields that are `nil`.
public struct IPv4Header: Hashable, Sendable {
    /// Differentiated services and congestion notification bits (RFC 2474 §3, RFC 3168 §5).
    public var typeOfService: UInt8 = 0
    /// Header and payload length in bytes. If `nil`, the builder computes it.
    public var totalLength: UInt16?
    /// The datagram's identification, which all its fragments share.
    public var identification: UInt16 = 0
    @usableFromInline var flags = Flags(rawValue: 0)
    /// The fragment's position in the datagram, in 8-byte units.
    public var fragmentOffset: UInt16 = 0
    /// The remaining hop count.
    public var timeToLive: UInt8 = 64
    /// The payload's protocol.
    public var proto: IPProtocolNumber
    /// The header checksum. If `nil`, the builder computes it.
    public var checksum: UInt16?
    /// The source address.
    public var source: IPv4Address
    /// The destination address.
    public var destination: IPv4Address
    /// The options, at most 40 bytes. The builder pads them with zeros to a multiple of four bytes.
    public var options: [UInt8] = []

    /// Creates a header. The builder computes the total length and the checksum.
    @inlinable
    public init(
        source: IPv4Address, destination: IPv4Address, proto: IPProtocolNumber, timeToLive: UInt8 = 64,
        identification: UInt16 = 0
    ) {
        self.source = source
        self.destination = destination
        self.proto = proto
        self.timeToLive = timeToLive
        self.identification = identification
    }

    /// The reserved flag, normally 0.
    @inlinable public var reserved: Bool {
        get { flags[.reserved] }
        set { flags[.reserved] = newValue }
    }
    /// The Don't Fragment flag.
    @inlinable public var dontFragment: Bool {
        get { flags[.dontFragment] }
        set { flags[.dontFragment] = newValue }
    }
    /// The More Fragments flag.
    @inlinable public var moreFragments: Bool {
        get { flags[.moreFragments] }
        set { flags[.moreFragments] = newValue }
    }

    /// Header length in bytes.
    public var byteCount: Int { 20 + (min(options.count, 40) + 3) / 4 * 4 }

    /// Reads a header at `offset`.
    ///
    /// - Throws: `WireError` if the header's fixed part is incomplete. Options that are cut off are no error.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        typeOfService = try bytes.u8(offset &+ 1)
        totalLength = try bytes.u16(offset &+ 2)
        identification = try bytes.u16(offset &+ 4)
        let fragment = try bytes.u16(offset &+ 6)
        flags = Flags(rawValue: fragment & ~0x1FFF)
        fragmentOffset = fragment & 0x1FFF
        timeToLive = try bytes.u8(offset &+ 8)
        proto = IPProtocolNumber(rawValue: try bytes.u8(offset &+ 9))
        checksum = try bytes.u16(offset &+ 10)
        source = IPv4Address(bits: try bytes.u32(offset &+ 12))
        destination = IPv4Address(bits: try bytes.u32(offset &+ 16))
        let length = Int(try bytes.u8(offset) & 15) * 4
        if length > 20 { options = bytes.clamped(offset &+ 20, offset &+ length).array }
    }
}

extension IPv4Header {
    /// The flags, at their position in the 16-bit word that they share with the fragment offset.
    @usableFromInline
    struct Flags: OptionSet, Hashable, Sendable {
        @usableFromInline var rawValue: UInt16

        @inlinable
        init(rawValue: UInt16) { self.rawValue = rawValue }

        @inlinable static var reserved: Flags { Flags(rawValue: 0x8000) }
        @inlinable static var dontFragment: Flags { Flags(rawValue: 0x4000) }
        @inlinable static var moreFragments: Flags { Flags(rawValue: 0x2000) }

        /// Reads or changes one flag. Assigning `true` sets the flag, and `false` clears it.
        @inlinable
        subscript(flag: Flags) -> Bool {
            get { contains(flag) }
            set { if newValue { formUnion(flag) } else { subtract(flag) } }
        }
    }
}

/// An IPv6 header (RFC 8200 §3). ``PacketBuilder`` fills in the fields that are `nil`.
public struct IPv6Header: Hashable, Sendable {
    /// Header length in bytes.
    public static let byteCount = 40
    /// The traffic class: differentiated services and congestion notification bits.
    public var trafficClass: UInt8 = 0
    /// The flow label, 20 bits.
    public var flowLabel: UInt32 = 0
    /// Length of everything after the header, in bytes. If `nil`, the builder computes it.
    public var payloadLength: UInt16?
    /// The payload's protocol, or the first extension header.
    public var nextHeader: IPProtocolNumber
    /// The remaining hop count.
    public var hopLimit: UInt8 = 64
    /// The source address.
    public var source: IPv6Address
    /// The destination address.
    public var destination: IPv6Address

    /// Creates a header. The builder computes the payload length.
    @inlinable
    public init(
        source: IPv6Address, destination: IPv6Address, nextHeader: IPProtocolNumber, hopLimit: UInt8 = 64,
        flowLabel: UInt32 = 0
    ) {
        self.source = source
        self.destination = destination
        self.nextHeader = nextHeader
        self.hopLimit = hopLimit
        self.flowLabel = flowLabel & 0xFFFFF
    }

    /// Reads a header at `offset`.
    ///
    /// - Throws: `WireError` if the header is incomplete.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        let first = try bytes.u32(offset)
        trafficClass = UInt8(truncatingIfNeeded: first >> 20)
        flowLabel = first & 0xFFFFF
        payloadLength = try bytes.u16(offset &+ 4)
        nextHeader = IPProtocolNumber(rawValue: try bytes.u8(offset &+ 6))
        hopLimit = try bytes.u8(offset &+ 7)
        source = try IPv6Address(bytes, at: offset &+ 8)
        destination = try IPv6Address(bytes, at: offset &+ 24)
    }
}

extension IPv6Address {
    init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        self.init(high: try bytes.u64(offset), low: try bytes.u64(offset &+ 8))
    }
}

/// An ICMP or ICMPv6 message's first eight bytes (RFC 792, RFC 4443 §2.1).
public struct ICMPHeader: Hashable, Sendable {
    /// Header length in bytes.
    public static let byteCount = 8
    /// The message type.
    public var type: UInt8
    /// The message code, which refines the type.
    public var code: UInt8 = 0
    /// The checksum. If `nil`, the builder computes it.
    public var checksum: UInt16?
    /// The last four bytes. The type defines their meaning: an identifier and a sequence number, an address or an MTU.
    public var rest: UInt32 = 0

    /// Creates a header. The builder computes the checksum.
    public init(type: UInt8, code: UInt8 = 0, rest: UInt32 = 0) {
        self.type = type
        self.code = code
        self.rest = rest
    }

    /// Creates an echo request or reply header.
    public static func echo(type: UInt8, identifier: UInt16, sequence: UInt16) -> ICMPHeader {
        ICMPHeader(type: type, rest: UInt32(identifier) << 16 | UInt32(sequence))
    }

    /// An echo message's identifier: the upper half of ``rest``.
    public var identifier: UInt16 { UInt16(truncatingIfNeeded: rest >> 16) }
    /// An echo message's sequence number: the lower half of ``rest``.
    public var sequence: UInt16 { UInt16(truncatingIfNeeded: rest) }

    /// Reads a header at `offset`.
    ///
    /// If fewer than eight bytes remain, ``rest`` is 0.
    ///
    /// - Throws: `WireError` if fewer than four bytes remain.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        type = try bytes.u8(offset)
        code = try bytes.u8(offset &+ 1)
        checksum = try bytes.u16(offset &+ 2)
        rest = (try? bytes.u32(offset &+ 4)) ?? 0
    }
}
