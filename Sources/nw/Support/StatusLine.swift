import CausewaySystem
import CausewayTypes
import Synchronization

/// The line on the terminal that shows progress.
///
/// A process has one such line. Before the tool prints other text, it erases the line. Then it redraws the line below
/// the text, so progress and output never share a line.
enum StatusLine {
    /// The currently drawn text.
    private static let shown = Mutex<PrintableText?>(nil)

    /// Whether standard error is a terminal that supports control sequences.
    static let isAvailable = OpenFile.standardError.kind == .terminal && !TerminalScreen.isDumb

    /// Draws the line, replacing the previous line. The caller keeps the text shorter than
    /// ``TerminalScreen/columnCount``.
    static func show(_ text: PrintableText) {
        guard isAvailable else { return }
        shown.withLock { shown in
            shown = text
            put("\r" + text + "\u{1B}[K")
        }
    }

    /// Erases the line.
    static func erase() {
        shown.withLock { shown in
            if shown.take() != nil { put("\r\u{1B}[K") }
        }
    }

    /// Keeps the status line on the screen. The next text begins below it.
    static func leave() {
        shown.withLock { shown in
            if shown.take() != nil { put("\n") }
        }
    }

    /// Runs `body`, which prints whole lines, while the status line is erased.
    ///
    /// - Parameter isPiped: Whether the lines go to another program, which may print them to the terminal a moment
    ///   later. If so, the status line is not redrawn until the next progress.
    static func aside<Failure: Error>(isPiped: Bool = false, _ body: () throws(Failure) -> Void) throws(Failure) {
        guard isAvailable else { return try body() }
        try shown.withLock { (shown: inout PrintableText?) throws(Failure) in
            guard let text = shown else { return try body() }
            put("\r\u{1B}[K")
            if isPiped { shown = nil }
            try body()
            if !isPiped { put(text) }
        }
    }

    private static func put(_ text: PrintableText) {
        // Progress display is optional, so discard its errors.
        try? OpenFile.standardError.put(text)
    }
}
