/// A key of the picker.
enum PickerKey: Equatable, Sendable {
    case up, down, enter, done, cancel
    /// Ctrl-C: ends the program as usual, after the terminal is restored.
    case interrupt
}

/// Decodes the bytes of a terminal into keys. Has no side effects.
struct KeyDecoder: Sendable {
    private enum State: Sendable {
        case plain, escape, sequence
    }

    private var state = State.plain
    private static let escapeByte: UInt8 = 0x1B

    /// Whether an escape byte waits for the rest of a sequence. If nothing follows soon, it was the Escape key: call ``flush()``.
    var isWaiting: Bool { state != .plain }

    /// Returns the keys that are complete. Other bytes are ignored.
    mutating func keys(of bytes: [UInt8]) -> [PickerKey] { bytes.compactMap { key(of: $0) } }

    /// Ends the wait for a sequence.
    mutating func flush() -> PickerKey? {
        defer { state = .plain }
        return state == .escape ? .cancel : nil
    }

    private mutating func key(of byte: UInt8) -> PickerKey? {
        switch state {
        case .plain: return plain(byte)
        case .escape:
            // Both forms of the cursor keys: CSI and SS3.
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
                state = .sequence
                return nil
            }
            state = byte == Self.escapeByte ? .escape : .plain
            return .cancel
        case .sequence:
            // Parameters come before the final byte.
            if (0x20..<0x40).contains(byte) { return nil }
            state = .plain
            return byte == UInt8(ascii: "A") ? .up : byte == UInt8(ascii: "B") ? .down : nil
        }
    }

    private mutating func plain(_ byte: UInt8) -> PickerKey? {
        switch byte {
        case Self.escapeByte:
            state = .escape
            return nil
        case 0x03: return .interrupt
        case 0x0A, 0x0D: return .enter
        case UInt8(ascii: "k"), 0x10: return .up
        case UInt8(ascii: "j"), 0x0E: return .down
        case UInt8(ascii: "d"), UInt8(ascii: "D"): return .done
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): return .cancel
        default: return nil
        }
    }
}
