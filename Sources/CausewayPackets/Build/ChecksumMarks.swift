/// A layer of a packet that is made: where it lies, and what is to be filled in.
///
/// All of it are numbers of 64 bits: what is stored in parts has to wait before it can be loaded as a whole.
struct ChecksumMark: Sendable {
    static let fillsLength: UInt64 = 1
    static let fillsChecksum: UInt64 = 2
    /// The checksum of a layer around this one, which is to be filled in, covers it.
    static let isCovered: UInt64 = 4
    /// The layer of addresses around this one is of version 6.
    static let isInIPv6: UInt64 = 8
    /// Any of the first three.
    static let isPending: UInt64 = 7
    /// `sum` is known.
    static let isSummed: UInt64 = 16

    /// From the lowest: the above, the kind, the places of length and checksum from the layer's beginning, how much of it the length
    /// leaves out, and what the pseudo header says that this is (0 for checksums without one); 8 bits each.
    var flags: UInt64
    var offset: Int
    var byteCount: Int
    /// Where the layer of addresses around this one begins; negative where there is none.
    var network = -1
    /// Of the header's words, with zeros for what is filled in.
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

    /// Notes that another header stands there. Gives what the flags were.
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

/// The layers of a packet that is made, the outermost first. Few packets have more than there is room for without an allocation, and
/// what asks an array for room asks whether it is alone with it, for each layer.
struct ChecksumMarks: Sendable {
    private static let roomFor = 8
    private var first = InlineArray<8, ChecksumMark>(repeating: ChecksumMark(.none, 0, 0))
    /// Those behind the first, and behind them those of an earlier packet that had more.
    private var more: [ChecksumMark] = []
    private(set) var count = 0
    /// Where the latest layer of addresses begins.
    private var network = -1
    /// What is true of the layers that are added next.
    private var next: UInt64 = 0

    /// Whether a checksum that is to be filled in covers what is added next.
    var covers: Bool { next & ChecksumMark.isCovered != 0 }

    /// The first of which something is to be filled in, or that is covered by what is; no less than the count where there is none.
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

    /// Where the layer at a position is, if it is of that kind and size.
    @inline(__always)
    mutating func offset(of position: Int, _ kind: LayerKind, _ byteCount: Int) -> Int? {
        guard position >= 0, position < count else { return nil }
        let mark = self[position]
        return mark.isKind(kind) && mark.byteCount == byteCount ? mark.offset : nil
    }

    /// Notes that another header stands where one was.
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

    /// Also to look at one a value has to be changeable: then that happens where it lies, without a copy of all.
    subscript(position: Int) -> ChecksumMark {
        @inline(__always) mutating get { position < Self.roomFor ? first[position] : more[position - Self.roomFor] }
        set {
            if position < Self.roomFor { first[position] = newValue } else { more[position - Self.roomFor] = newValue }
        }
    }
}
