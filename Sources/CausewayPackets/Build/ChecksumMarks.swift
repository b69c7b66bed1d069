/// The position of a layer in a packet under construction, and the fields of the layer that must still be filled in.
///
/// All properties are 64 bits wide. With narrower properties, one load could read several of them at once. Such a load
/// would have to wait until the preceding stores are complete.
struct ChecksumMark: Sendable {
    static let fillsLength: UInt64 = 1
    static let fillsChecksum: UInt64 = 2
    /// The checksum of an outer layer covers this layer. That checksum is not filled in yet.
    static let isCovered: UInt64 = 4
    /// The IP layer that encloses this layer is IPv6.
    static let isInIPv6: UInt64 = 8
    /// A mask for the three flags declared first. If one of them is set, some work for the layer is pending.
    static let isPending: UInt64 = 7
    /// The value of ``sum`` has already been computed.
    static let isSummed: UInt64 = 16

    /// Six 8-bit values, from the lowest byte up:
    /// 1. The flags declared above.
    /// 2. The layer kind.
    /// 3. The length field's offset in the header.
    /// 4. The checksum field's offset in the header.
    /// 5. The number of header bytes that the length field does not include.
    /// 6. The protocol number in the pseudo header; 0 if the checksum has no pseudo header.
    var flags: UInt64
    var offset: Int
    var byteCount: Int
    /// Offset of the enclosing IP header in the packet, in bytes; negative if there is none.
    var network = -1
    /// The sum of the header's words, for the checksum. Fields that are not filled in yet count as zeros.
    private(set) var sum: UInt64 = 0

    @inline(__always)
    init(_ kind: LayerKind, _ offset: Int, _ byteCount: Int) {
        (self.offset, self.byteCount) = (offset, byteCount)
        let fields: UInt64 =
            switch kind {
            case .ipv4: 0x00_00_0A_02
            case .ipv6: 0x00_28_00_04
            case .tcp: 0x06_00_10_00
            case .udp: 0x11_00_06_04
            case .icmp: 0x00_00_02_00
            case .icmp6: 0x3A_00_02_00
            default: 0
            }
        flags = fields << 16 | UInt64(kind.rawValue) << 8
    }

    @inline(__always) var lengthAt: Int { offset &+ Int(flags >> 16 & 0xFF) }
    @inline(__always) var checksumAt: Int { offset &+ Int(flags >> 24 & 0xFF) }
    @inline(__always) var lengthLess: Int { Int(flags >> 32 & 0xFF) }
    @inline(__always) var number: UInt16 { UInt16(truncatingIfNeeded: flags >> 40 & 0xFF) }
    @inline(__always)
    func isKind(_ kind: LayerKind) -> Bool { UInt8(truncatingIfNeeded: flags >> 8) == kind.rawValue }

    /// Updates the flags and the checksum sum after another header has replaced this layer's header. Returns the
    /// earlier flags.
    @inline(__always)
    mutating func replaced(_ fillsLength: Bool, _ fillsChecksum: Bool, _ sum: UInt64?) -> UInt64 {
        let before = flags
        flags =
            before & ~(Self.fillsLength | Self.fillsChecksum | Self.isSummed) | (fillsLength ? Self.fillsLength : 0)
            | (fillsChecksum ? Self.fillsChecksum : 0) | (sum == nil ? 0 : Self.isSummed)
        self.sum = sum ?? 0
        return before
    }

    @inline(__always)
    mutating func set(_ sum: UInt64) {
        self.sum = sum
        flags |= Self.isSummed
    }
}

/// The layers of a packet under construction, outermost first. The first eight need no allocation.
struct ChecksumMarks: Sendable {
    private static let roomFor = 8
    private var first = InlineArray<8, ChecksumMark>(repeating: ChecksumMark(.none, 0, 0))
    /// The layers after the first eight. Entries at or after the current count belong to an earlier packet.
    private var more: [ChecksumMark] = []
    private(set) var count = 0
    /// Offset of the last added IP header in the packet, in bytes; negative if there is none.
    private var network = -1
    /// The flags to set on layers that are added later.
    private var next: UInt64 = 0

    /// Whether a pending checksum covers the next layer.
    var covers: Bool { next & ChecksumMark.isCovered != 0 }

    /// Whether the latest IP header is IPv6.
    var isInIPv6: Bool { next & ChecksumMark.isInIPv6 != 0 }

    /// The index of the first layer with pending work; `Int.max` if no layer has any. Pending work is a field to fill
    /// in, or the checksum of an outer layer to compute.
    private(set) var firstPending = Int.max

    mutating func removeAll() { (count, network, next, firstPending) = (0, -1, 0, .max) }

    @inline(__always)
    mutating func add(_ mark: ChecksumMark) {
        var mark = mark
        mark.flags |= next
        mark.network = network
        if count < Self.roomFor { first[count] = mark } else { addMore(mark) }
        if mark.flags & ChecksumMark.isPending != 0, firstPending > count { firstPending = count }
        count &+= 1
        if mark.isKind(.ipv4) {
            network = mark.offset
            next &= ~ChecksumMark.isInIPv6
        } else if mark.isKind(.ipv6) {
            network = mark.offset
            next |= ChecksumMark.isInIPv6
        } else if mark.flags & ChecksumMark.fillsChecksum != 0 {
            next |= ChecksumMark.isCovered
        }
    }

    @inline(never)
    private mutating func addMore(_ mark: ChecksumMark) {
        let place = count - Self.roomFor
        if place < more.count { more[place] = mark } else { more.append(mark) }
    }

    /// Returns the byte offset of the layer at `position`; `nil` if there is no such layer, or if it differs from
    /// `kind` or `byteCount`.
    @inline(__always)
    mutating func offset(of position: Int, _ kind: LayerKind, _ byteCount: Int) -> Int? {
        guard position >= 0, position < count else { return nil }
        let mark = self[position]
        return mark.isKind(kind) && mark.byteCount == byteCount ? mark.offset : nil
    }

    /// Records that the header at a layer position was replaced.
    @inline(__always)
    mutating func replaced(_ position: Int, _ fillsLength: Bool, _ fillsChecksum: Bool, _ sum: UInt64?) {
        let before: UInt64
        if position < Self.roomFor {
            before = first[position].replaced(fillsLength, fillsChecksum, sum)
        } else {
            before = more[position - Self.roomFor].replaced(fillsLength, fillsChecksum, sum)
        }
        if position < firstPending { firstPending = position }
        if before & ChecksumMark.fillsChecksum == 0, fillsChecksum, !self[position].isKind(.ipv4) {
            cover(behind: position)
        }
    }

    @inline(never)
    private mutating func cover(behind position: Int) {
        for inner in position + 1..<max(count, position + 1) { self[inner].flags |= ChecksumMark.isCovered }
        next |= ChecksumMark.isCovered
    }

    /// The getter is `mutating`, so that it reads one layer in place. A nonmutating getter would copy the list of all
    /// layers.
    subscript(position: Int) -> ChecksumMark {
        @inline(__always) mutating get { position < Self.roomFor ? first[position] : more[position - Self.roomFor] }
        set {
            if position < Self.roomFor { first[position] = newValue } else { more[position - Self.roomFor] = newValue }
        }
    }
}
