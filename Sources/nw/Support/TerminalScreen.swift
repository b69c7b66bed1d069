import CausewaySystem
import CausewayTypes

/// The terminal's capabilities.
enum TerminalScreen {
    /// Whether the terminal supports no control sequences.
    static let isDumb = variable("TERM") == "dumb"

    /// Whether standard output is a terminal that supports control sequences.
    static let isInteractive = OpenFile.standardOutput.kind == .terminal && !isDumb

    /// Whether the output to the terminal has colours. The environment variable `NO_COLOR` turns colours off.
    static let hasColor = isInteractive && (variable("NO_COLOR") ?? "").isEmpty

    /// The number of terminal lines; 24 if unknown.
    static var lineCount: Int {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }

    /// The number of columns on standard error's terminal; 80 if unknown.
    static var columnCount: Int {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension PrintableText {
    enum Style {
        case heading, added, removed, changed, faint
    }

    /// Returns the text in a terminal style; unchanged if the terminal has no colours.
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

/// Terminal lines that are redrawn in place.
struct LiveLines {
    private var drawn = 0

    /// Replaces the lines that were drawn before. If there are too many new lines, the final line shows how many lines
    /// are hidden.
    mutating func draw(_ lines: [PrintableText]) {
        let room = max(2, TerminalScreen.lineCount - 1)
        var shown = lines
        if lines.count > room {
            shown = lines.prefix(room - 1) + [("and \(lines.count - room + 1) more" as PrintableText).styled(.faint)]
        }
        // Turn off line wrapping, so that the terminal truncates long lines.
        var text: PrintableText = "\u{1B}[?7l"
        if drawn > 0 { text += "\u{1B}[\(drawn)F" }
        text += "\u{1B}[J"
        for line in shown { text += line + "\n" }
        text += "\u{1B}[?7h"
        try? OpenFile.standardOutput.put(text)
        drawn = shown.count
    }
}
