/// Several comparisons of a packet filter that are evaluated in one step. The step compares up to two masked 8-byte
/// windows of the packet with values, and one byte with a set of values.
///
/// A decision merges comparisons that lead to the same position in the filter. It matches if all its comparisons match.
/// A decision with two comparisons can instead match if one of them matches. Merging reduces the number of steps, which
/// are the expensive part of a filter. A typical filter needs two to four decisions.
struct FilterDecision: Hashable, Sendable {
    /// Values of the targets `jt` and `jf` that end the evaluation. All other values are indices of the next decision.
    static let refused: Int32 = -1
    static let taken: Int32 = -2
    /// The decisions give no result for this packet, for example because the packet is short. Then the filter's BPF
    /// program evaluates the packet.
    static let open: Int32 = -3

    /// Eight packet bytes to compare. Mask and value have the packet's byte order.
    struct Window: Hashable, Sendable {
        var mask: UInt64 = 0
        /// The expected value after masking.
        var value: UInt64 = 0
        /// Offset to the first byte.
        var at: Int32 = 0

        /// Returns the bits that differ from the expected value. The caller has checked the bounds.
        @inline(__always)
        func difference(_ bytes: RawSpan, _ base: Int) -> UInt64 {
            // In bounds: the caller has checked that the packet contains all bytes up to `reach`, which includes both
            // windows.
            let found = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: base &+ Int(at), as: UInt64.self)
            return (found ^ value) & mask
        }
    }

    // A 4-byte field follows each window and fills the padding after it, so that a decision has 72 bytes.
    var first = Window()
    /// Offset to the byte whose low half is the IP header length, which is added to all other offsets. `header` is
    /// negative if no length is added.
    var header: Int32 = -1
    var second = Window()
    var byteAt: Int32 = -1
    /// Up to eight accepted values for the byte at `byteAt`, which is negative if no byte is compared.
    var bytes: UInt64 = 0
    /// Offset after the last byte that the decision loads. As for the other offsets, the IP header length is added to
    /// it if `header` is not negative.
    var reach: Int32 = 0
    /// How many of the two windows `first` and `second` must match: both, or only one of them. If the decision compares
    /// one window, `first` and `second` are equal.
    var needed: Int32 = 2
    var jt: Int32 = 0
    var jf: Int32 = 0

    /// Evaluates the decision (a group of comparisons) at `place` for a packet. Returns the index of the next decision,
    /// or a negative value: ``refused``, ``taken`` or ``open``.
    ///
    /// Reads each field in place: copying the decision would load all its fields.
    @inline(__always)
    static func next(_ steps: Span<FilterDecision>, _ place: Int, _ bytes: RawSpan) -> Int32 {
        var base = 0
        let header = Int(steps[place].header)
        if header >= 0 {
            guard header < bytes.byteCount else { return open }
            // In bounds: the guard above checks the offset.
            let byte = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: header, as: UInt8.self)
            base = Int(byte & 15) << 2
        }
        // Check the bounds once for all loads below: no offset is negative, and no load ends after `reach`.
        guard base &+ Int(steps[place].reach) <= bytes.byteCount else { return open }
        let first = steps[place].first.difference(bytes, base)
        let second = steps[place].second.difference(bytes, base)
        // Use branches, which the processor predicts, instead of conditional moves, which add latency.
        if _fastPath(steps[place].needed == 2) {
            guard _fastPath(first | second == 0) else { return steps[place].jf }
        } else {
            guard _fastPath(first == 0 || second == 0) else { return steps[place].jf }
        }
        let byteAt = Int(steps[place].byteAt)
        if byteAt >= 0 {
            let byte = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: base &+ byteAt, as: UInt8.self)
            guard _fastPath(holds(steps[place].bytes, byte)) else { return steps[place].jf }
        }
        return steps[place].jt
    }

    /// Whether one of eight packed bytes equals `byte`. XORs `bytes` with eight copies of `byte` and looks for a zero
    /// byte.
    @inline(__always)
    static func holds(_ bytes: UInt64, _ byte: UInt8) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = bytes ^ (UInt64(byte) &* ones)
        return (difference &- ones) & ~difference & (ones << 7) != 0
    }
}

/// A filter as a decision graph. Available for filters that only compare fields with constants, as most filters do.
struct FilterDecisions: Hashable, Sendable {
    let steps: [FilterDecision]
    let start: Int32
    /// The return value for an accepted packet.
    let answer: UInt32

    /// Converts a program. The result is empty if the program does more than compare, or if the graph becomes too large.
    init(_ instructions: [FilterInstruction]) {
        var making = FilterDecisionMaking(instructions)
        let start = making.start()
        (self.start, answer) = (start ?? FilterDecision.open, making.answer ?? 0)
        steps = start == nil ? [] : making.steps
    }

    /// Evaluates a packet.
    ///
    /// - Returns: `taken` if the filter accepts the packet, `refused` if the filter rejects it, `open` if only the
    ///   filter's BPF program can give the result.
    @inline(__always)
    func end(_ packet: borrowing ByteView) -> Int32 {
        let (steps, bytes) = (steps.span, packet.rawSpan)
        var place = start
        // The loop terminates, because each step leads only to steps that were created before it.
        while place >= 0 { place = FilterDecision.next(steps, Int(place), bytes) }
        return place
    }
}
