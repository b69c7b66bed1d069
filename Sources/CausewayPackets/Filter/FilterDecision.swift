/// Up to two windows of eight bytes, and a byte that is one of some, compared at once; and where to go on.
///
/// What costs in a filter is to find out what comes next. So comparisons that lead to the same place are one decision: all of them hold,
/// or any of them does. A filter of usual length is two to four decisions.
struct FilterDecision: Hashable, Sendable {
    /// Places that end the program; all others are indices of decisions.
    static let refused: Int32 = -1
    static let taken: Int32 = -2
    /// Only the program itself can judge.
    static let open: Int32 = -3

    /// The windows: where they begin, the bits that count, and the values of those, as they lie in memory.
    var firstAt: Int32 = 0
    var secondAt: Int32 = 0
    var firstMask: UInt64 = 0
    var firstValue: UInt64 = 0
    var secondMask: UInt64 = 0
    var secondValue: UInt64 = 0
    /// Up to eight values of the byte at `byteAt`; that is negative where none is compared.
    var bytes: UInt64 = 0
    var byteAt: Int32 = -1
    /// Where the byte is whose low half tells how far all is moved; negative where it stays.
    var header: Int32 = -1
    /// The first byte behind all that is compared, before that is moved.
    var reach: Int32 = 0
    /// How many of the windows have to agree.
    var needed: Int32 = 2
    var jt: Int32 = 0
    var jf: Int32 = 0

    /// How a packet goes on from the decision at `place`.
    ///
    /// Every field is asked for where it lies: a decision that is taken out of the span is loaded as a whole, most of it for nothing.
    @inline(__always)
    static func next(_ steps: Span<FilterDecision>, _ place: Int, _ bytes: RawSpan) -> Int32 {
        var base = 0
        let header = Int(steps[place].header)
        if header >= 0 {
            guard header < bytes.byteCount else { return open }
            // In bounds by the line above.
            let byte = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: header, as: UInt8.self)
            base = Int(byte & 15) << 2
        }
        // One comparison for all loads below: none is negative, and none ends behind `reach`.
        guard base &+ Int(steps[place].reach) <= bytes.byteCount else { return open }
        let first = unsafe bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: base &+ Int(steps[place].firstAt), as: UInt64.self)
        let second = unsafe bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: base &+ Int(steps[place].secondAt), as: UInt64.self)
        let firstDiffers = (first ^ steps[place].firstValue) & steps[place].firstMask
        let secondDiffers = (second ^ steps[place].secondValue) & steps[place].secondMask
        // By branches, which the processor foresees, and not by selections, which all that follows would wait for.
        if _fastPath(steps[place].needed == 2) {
            guard _fastPath(firstDiffers | secondDiffers == 0) else { return steps[place].jf }
        } else {
            guard _fastPath(firstDiffers == 0 || secondDiffers == 0) else { return steps[place].jf }
        }
        let byteAt = Int(steps[place].byteAt)
        if byteAt >= 0 {
            let byte = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: base &+ byteAt, as: UInt8.self)
            guard _fastPath(holds(steps[place].bytes, byte)) else { return steps[place].jf }
        }
        return steps[place].jt
    }

    /// Whether one of eight bytes is `byte`: where they are equal the difference has a byte of zeros.
    @inline(__always)
    static func holds(_ bytes: UInt64, _ byte: UInt8) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = bytes ^ (UInt64(byte) &* ones)
        return (difference &- ones) & ~difference & (ones << 7) != 0
    }
}

/// A filter as decisions: for those that only compare fields with numbers, which most do.
struct FilterDecisions: Hashable, Sendable {
    let steps: [FilterDecision]
    let start: Int32
    /// What a packet that is taken is answered with.
    let answer: UInt32

    /// None for a program that does more than compare, and for one that becomes too long.
    init(_ instructions: [FilterInstruction]) {
        var making = FilterDecisionMaking(instructions)
        let start = making.start()
        (self.start, answer) = (start ?? FilterDecision.open, making.answer ?? 0)
        steps = start == nil ? [] : making.steps
    }

    /// Runs over a packet.
    ///
    /// - Returns: Where that ends: `taken`, `refused` or `open`.
    @inline(__always)
    func end(_ packet: borrowing ByteView) -> Int32 {
        let (steps, bytes) = (steps.span, packet.rawSpan)
        var place = start
        // Every decision leads to one that was made before it, so this ends.
        while place >= 0 { place = FilterDecision.next(steps, Int(place), bytes) }
        return place
    }
}
