import CausewaySystem
import CausewayTypes

/// What standard output can show.
enum TerminalScreen {
    /// Whether a person watches standard output: a terminal that understands control sequences.
    static let isInteractive = OpenFile.standardOutput.kind == .terminal && variable("TERM") != "dumb"

    /// Colours are left out where the environment has `NO_COLOR`.
    static let hasColor = isInteractive && (variable("NO_COLOR") ?? "").isEmpty

    /// Lines of the terminal, 24 where it does not say.
    static var lineCount: Int {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension PrintableText {
    enum Style {
        case heading, added, removed, changed, faint
    }

    /// The text in a style of the terminal, where it has any.
    func styled(_ style: Style) -> PrintableText {
        guard TerminalScreen.hasColor else { return self }
        let begin: PrintableText =
            switch style {
            case .heading: "\u{1B}[1m"
            case .added: "\u{1B}[32m"
            case .removed: "\u{1B}[31m"
            case .changed: "\u{1B}[33m"
            case .faint: "\u{1B}[2m"
            }
        return begin + self + "\u{1B}[0m"
    }
}

/// Lines on a terminal that are drawn again in the same place.
struct LiveLines {
    private var drawn = 0

    /// Replaces what was drawn before. What does not fit on the terminal is counted in the last line.
    mutating func draw(_ lines: [PrintableText]) {
        let room = max(2, TerminalScreen.lineCount - 1)
        var shown = lines
        if lines.count > room {
            shown = lines.prefix(room - 1) + [("and \(lines.count - room + 1) more" as PrintableText).styled(.faint)]
        }
        // Long lines are cut off by the terminal instead of taking two of its lines.
        var text: PrintableText = "\u{1B}[?7l"
        if drawn > 0 { text += "\u{1B}[\(drawn)F" }
        text += "\u{1B}[J"
        for line in shown { text += line + "\n" }
        text += "\u{1B}[?7h"
        try? OpenFile.standardOutput.put(text)
        drawn = shown.count
    }
}
