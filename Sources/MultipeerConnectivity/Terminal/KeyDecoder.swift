/// A key press in the peer picker.
enum PickerKey: Equatable, Sendable {
    case up, down, enter, done, cancel
    /// Ctrl-C, which restores the terminal and then ends the program as usual.
    case interrupt
}

/// Decodes terminal bytes into key presses. Does no I/O.
struct KeyDecoder: Sendable {
    private enum State: Sendable {
        case plain, escape, sequence
    }

    private var state = State.plain
    private static let escapeByte: UInt8 = 0x1B

    /// Whether an escape sequence is incomplete. If no byte follows soon, the user pressed Escape: call ``flush()``.
    var isWaiting: Bool { state != .plain }

    /// Returns the completed key presses. Other bytes are ignored.
    mutating func keys(of bytes: [UInt8]) -> [PickerKey] { bytes.compactMap { key(of: $0) } }

    /// Abandons an incomplete key sequence. Returns `cancel` if the sequence was a lone escape byte.
    mutating func flush() -> PickerKey? {
        defer { state = .plain }
        return state == .escape ? .cancel : nil
    }

    private mutating func key(of byte: UInt8) -> PickerKey? {
        switch state {
        case .plain: return plain(byte)
        case .escape:
            // `[` or `O` after Escape begins the sequence of a cursor key (CSI or SS3).
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
                state = .sequence
                return nil
            }
            state = byte == Self.escapeByte ? .escape : .plain
            return .cancel
        case .sequence:
            // Parameter bytes precede the final byte of the escape sequence. Skip them.
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
