/// Several comparisons of a packet filter that are evaluated in one step. The step compares up to two masked 8-byte
/// windows of the packet with values, and one byte with a set of values.
///
/// A decision merges comparisons that lead to the same position in the filter. It matches if all its comparisons match.
/// A decision with two comparisons can instead match if one of them matches. Merging reduces the number of steps, which
/// are the expensive part of a filter. A typical filter needs two to four decisions.
struct FilterDecision: Hashable, Sendable {
    /// These values of `jt` and `jf` end the evaluation. All other values are the index of the next decision.
    static let refused: Int32 = -1
    static let taken: Int32 = -2
    /// The decisions cannot give a result for this packet, for example because the packet is too short. The filter's
    /// BPF program must then evaluate the packet.
    static let open: Int32 = -3

    /// A comparison of eight packet bytes. The mask and the value have the packet's byte order.
    struct Window: Hashable, Sendable {
        var mask: UInt64 = 0
        /// The expected value after the mask is applied.
        var value: UInt64 = 0
        /// Offset to the first byte.
        var at: Int32 = 0

        /// Returns the bits in which the packet differs from the expected value. The caller must first check that the
        /// loaded bytes are within the packet.
        @inline(__always)
        func difference(_ bytes: RawSpan, _ base: Int) -> UInt64 {
            // The load stays in bounds: the caller has checked that the packet contains all bytes up to `reach`. Both
            // windows lie before `reach`.
            let found = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: base &+ Int(at), as: UInt64.self)
            return (found ^ value) & mask
        }
    }

    // The field after each window has 4 bytes. It lies in the window's padding, so a decision needs only 72 bytes.
    var first = Window()
    /// The offset of the byte whose lower four bits contain the IP header length. That length is added to all other
    /// offsets. A negative value means that no length is added.
    var header: Int32 = -1
    var second = Window()
    var byteAt: Int32 = -1
    /// Up to eight accepted values for the byte at `byteAt`. If `byteAt` is negative, no byte is compared.
    var bytes: UInt64 = 0
    /// The offset after the last byte that the decision loads. If `header` is not negative, the IP header length is
    /// added, as for the other offsets.
    var reach: Int32 = 0
    /// The number of windows that must match: 2 for both `first` and `second`, otherwise 1. If the decision compares
    /// only one window, `first` and `second` are equal.
    var needed: Int32 = 2
    var jt: Int32 = 0
    var jf: Int32 = 0

    /// Evaluates one decision of the filter for a packet. A decision is a group of comparisons, and `place` is its
    /// index.
    ///
    /// Returns the index of the next decision, or a negative value: ``refused``, ``taken`` or ``open``.
    ///
    /// Each field is read in place, because a copy of the decision would load all its fields.
    @inline(__always)
    static func next(_ steps: Span<FilterDecision>, _ place: Int, _ bytes: RawSpan) -> Int32 {
        var base = 0
        let header = Int(steps[place].header)
        if header >= 0 {
            guard header < bytes.byteCount else { return open }
            // This load is in bounds, because the guard above has checked the offset.
            let byte = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: header, as: UInt8.self)
            base = Int(byte & 15) << 2
        }
        // Check the bounds once for all loads below. This suffices, because no offset is negative and no load ends
        // after `reach`.
        guard base &+ Int(steps[place].reach) <= bytes.byteCount else { return open }
        let first = steps[place].first.difference(bytes, base)
        let second = steps[place].second.difference(bytes, base)
        // Use branches here, because the processor predicts them. Conditional moves would add latency.
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

    /// Returns whether one of the eight bytes in `bytes` equals `byte`. XORs `bytes` with eight copies of `byte`, and
    /// then looks for a zero byte.
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

    /// Converts a filter program into decisions.
    ///
    /// The result has no decisions in two cases: the program does more than compare fields, or the decision graph
    /// becomes too large.
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
        // The loop ends, because each step leads only to steps that were created before that step.
        while place >= 0 { place = FilterDecision.next(steps, Int(place), bytes) }
        return place
    }
}
