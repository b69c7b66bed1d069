internal import Causeway
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch

/// Draws the peer picker on a terminal, and delivers key presses.
final class PickerScreen: Sendable {
    private struct State: Sendable {
        var drawn = 0
        var decoder = KeyDecoder()
        /// The number of reads from the terminal so far. After an escape byte, a further read soon after means an
        /// escape sequence. Without a further read, the user has pressed only the escape key.
        var reads = 0
    }

    /// How long to wait for the rest of an escape sequence. On a slow serial line, the bytes of a sequence arrive with
    /// gaps between them.
    private static let sequenceTime = Duration.milliseconds(100)

    private let terminal: any Terminal
    private let state = LockedValue(State())
    private let queue = DispatchQueue(label: "causeway.multipeer.picker", target: .global())

    init(_ terminal: any Terminal) { self.terminal = terminal }

    /// Starts to read key presses. The end of input counts as the Escape key.
    ///
    /// - Parameter handler: Called for each key, on a private queue.
    func begin(_ handler: @escaping @Sendable (PickerKey) -> Void) {
        // Hide the cursor.
        terminal.write("\u{1B}[?25l")
        terminal.beginReading(isRaw: true) { [weak self] bytes in
            guard let self else { return }
            queue.async { self.typed(bytes, handler) }
        }
    }

    private func typed(_ bytes: [UInt8], _ handler: @escaping @Sendable (PickerKey) -> Void) {
        guard !bytes.isEmpty else { return handler(.cancel) }
        let (keys, waiting, number) = state.withLock { state in
            state.reads += 1
            let keys = state.decoder.keys(of: bytes)
            return (keys, state.decoder.isWaiting, state.reads)
        }
        for key in keys { handler(key) }
        guard waiting else { return }
        queue.call(after: Self.sequenceTime) { [weak self] in
            let key = self?.state.withLock { state in state.reads == number ? state.decoder.flush() : nil }
            if let key = key ?? nil { handler(key) }
        }
    }

    var height: Int { terminal.size.lines }

    /// Replaces the lines drawn before. The terminal cuts long lines, because automatic wrapping is off while they are
    /// drawn.
    func draw(_ lines: [PrintableText]) {
        let drawn = state.withLock { state in
            defer { state.drawn = lines.count }
            return state.drawn
        }
        var text: PrintableText = "\u{1B}[?7l"
        if drawn > 0 { text += "\u{1B}[\(drawn)F" }
        text += "\u{1B}[J"
        for line in lines { text += line + "\r\n" }
        terminal.write(text + "\u{1B}[?7h")
    }

    /// Restores the terminal's mode and cursor.
    func end() {
        terminal.write("\u{1B}[?25h")
        terminal.endReading()
    }
}
