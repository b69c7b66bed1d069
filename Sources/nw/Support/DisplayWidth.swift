extension Unicode.Scalar {
    /// Ranges of characters that take two terminal columns: the wide and fullwidth characters in Unicode Standard
    /// Annex 11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
    ]

    /// The number of terminal columns.
    fileprivate var columnCount: Int {
        if isASCII { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if properties.isEmojiPresentation { return 2 }
        return Self.wide.contains { $0.contains(value) } ? 2 : 1
    }
}

extension StringProtocol {
    /// The number of terminal columns that the text takes.
    var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

    /// Returns the longest prefix that fits in this number of columns.
    func prefix(columns limit: Int) -> SubSequence {
        var left = limit
        return prefix { character in
            left -= character.columnCount
            return left >= 0
        }
    }
}

extension Character {
    /// The number of terminal columns that the character takes. An emoji sequence takes as many columns as its widest
    /// part.
    fileprivate var columnCount: Int { unicodeScalars.map(\.columnCount).max() ?? 0 }
}
