internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch

/// The picker on a terminal: draws its lines in place and delivers keys.
final class PickerScreen: Sendable {
    private struct State: Sendable {
        var drawn = 0
        var decoder = KeyDecoder()
        /// Counts the reads, so that a late end of an escape sequence is recognized.
        var reads = 0
    }

    /// Time for the rest of an escape sequence, in milliseconds. Slow serial lines need some.
    private static let sequenceTime = 100

    private let terminal: any Terminal
    private let state = LockedValue(State())
    private let queue = DispatchQueue(label: "causeway.multipeer.picker", target: .global())

    init(_ terminal: any Terminal) { self.terminal = terminal }

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
        let (keys, waiting, number) = state.withLock { state in
            state.reads += 1
            let keys = state.decoder.keys(of: bytes)
            return (keys, state.decoder.isWaiting, state.reads)
        }
        for key in keys { handler(key) }
        guard waiting else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.sequenceTime)) { [weak self] in
            let key = self?.state.withLock { state in state.reads == number ? state.decoder.flush() : nil }
            if let key = key ?? nil { handler(key) }
        }
    }

    var height: Int { terminal.size.lines }

    /// Replaces the lines that were drawn before. The terminal cuts lines that are too long.
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

    /// Restores the terminal.
    func end() {
        terminal.write("\u{1B}[?25h")
        terminal.endReading()
    }
}
