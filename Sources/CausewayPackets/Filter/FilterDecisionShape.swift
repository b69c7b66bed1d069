/// A filter decision under construction. Comparisons whose bytes lie within eight bytes are combined into one window.
struct FilterDecisionShape {
    private var windows: [FilterWindow] = []
    private var byte: (at: UInt32, values: UInt64)?
    private var isEither = false

    init(_ test: FilterDecisionMaking.Comparison) { _ = add(test) }

    /// Adds a comparison that must match in addition to the others. Returns `false` if the decision has no space for
    /// it.
    ///
    /// A ``FilterDecision`` has space for two windows of 8 bytes, and for one byte.
    mutating func add(_ test: FilterDecisionMaking.Comparison) -> Bool {
        if let values = test.bytes {
            guard byte == nil else { return false }
            byte = (test.at, values)
            return true
        }
        for place in windows.indices where windows[place].take(test) { return true }
        guard windows.count < 2 else { return false }
        windows.append(FilterWindow(test))
        return true
    }

    /// Adds `test` as an alternative to the existing comparison: a packet must match only one of them. Returns `false`
    /// if a ``FilterDecision`` cannot express this.
    mutating func addOther(_ test: FilterDecisionMaking.Comparison) -> Bool {
        guard windows.count == 1, byte == nil, test.bytes == nil else { return false }
        windows.append(FilterWindow(test))
        isEither = true
        return true
    }

    var decision: FilterDecision {
        var decision = FilterDecision()
        // A `FilterDecision` always compares an 8-byte window. If the filter tests only a single byte, add a window
        // with an empty mask after this byte. Such a window always matches.
        let all = windows.isEmpty ? [FilterWindow(behind: (byte?.at ?? 0) + 1)] : windows
        (decision.first, decision.second) = (all[0].asInMemory, all[all.count - 1].asInMemory)
        decision.needed = isEither ? 1 : 2
        decision.reach = all.map(\.end).max() ?? 0
        if let byte {
            (decision.byteAt, decision.bytes) = (Int32(byte.at), byte.values)
            decision.reach = max(decision.reach, Int32(byte.at) + 1)
        }
        return decision
    }
}

/// A window of 8 packet bytes that a filter decision will compare. The bytes are in network byte order.
struct FilterWindow {
    private var at: Int
    private var mask: UInt64
    private var value: UInt64

    /// Creates a window of eight bytes with an empty mask. The window ends at the offset `last`. If `last` is less than
    /// 8, the window begins at 0 instead, and so extends beyond `last`.
    init(behind last: UInt32) { (at, mask, value) = (max(0, Int(last) - 8), 0, 0) }

    init(_ test: FilterDecisionMaking.Comparison) {
        let last = Int(test.at) + Int(test.width)
        at = max(0, last - 8)
        (mask, value) = Self.placed(test, at)
    }

    var end: Int32 { Int32(at + 8) }

    /// This window with its mask and its expected value in big-endian order, which is the byte order of a packet. A
    /// filter compares them with eight bytes of the packet as they are in memory.
    var asInMemory: FilterDecision.Window {
        FilterDecision.Window(mask: mask.bigEndian, value: value.bigEndian, at: Int32(at))
    }

    private static func placed(_ test: FilterDecisionMaking.Comparison, _ at: Int) -> (UInt64, UInt64) {
        let behind = UInt64(at + 8 - Int(test.at) - Int(test.width)) * 8
        return (UInt64(test.mask) << behind, UInt64(test.value) << behind)
    }

    /// Adds a comparison to the decision. Returns `false` if the field is too far away from the other fields in the
    /// window.
    mutating func take(_ test: FilterDecisionMaking.Comparison) -> Bool {
        var moved = self
        let last = Int(test.at) + Int(test.width)
        if last > at + 8 {
            let distance = last - 8 - at
            // Move the window by `distance` bytes. This is possible only if no comparison uses the bytes that the
            // window then no longer covers.
            guard distance < 8, mask >> UInt64(64 - distance * 8) == 0 else { return false }
            moved.at += distance
            (moved.mask, moved.value) = (mask << UInt64(distance * 8), value << UInt64(distance * 8))
        }
        guard Int(test.at) >= moved.at else { return false }
        let (mask, value) = Self.placed(test, moved.at)
        guard (value ^ moved.value) & mask & moved.mask == 0 else { return false }
        (moved.mask, moved.value) = (moved.mask | mask, moved.value | value)
        self = moved
        return true
    }
}
