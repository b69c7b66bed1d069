import CausewayTypes
import Synchronization

/// The progress of all downloads in a run: a bar for one file, a count for several files.
final class DownloadProgress: Sendable {
    private static let interval = Duration.milliseconds(100)

    private struct State: ~Copyable {
        var bar: ProgressBar?
        var position = 0
        var received = 0
        var finished = 0
        var drawn: ContinuousClock.Instant?
    }

    private let total: Int
    private let isVisible: Bool
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    init(fileCount: Int, isWanted: Bool) {
        total = fileCount
        isVisible = isWanted && StatusLine.isAvailable
    }

    /// Called when a file's content begins to arrive.
    func began(_ name: String, at position: Int, of length: Int?) {
        guard isVisible, total == 1 else { return }
        state.withLock { state in
            state.position = position
            state.bar = ProgressBar(name, byteCount: length.map { UInt64($0) }, from: UInt64(position))
        }
    }

    func received(_ count: Int) {
        state.withLock { state in
            state.position += count
            state.received += count
            state.bar?.advance(to: UInt64(state.position))
            guard isVisible, total > 1 else { return }
            let now = ContinuousClock.now
            if let drawn = state.drawn, now - drawn < Self.interval { return }
            state.drawn = now
            draw(state)
        }
    }

    /// Records that a file is complete or has failed. After the last file, removes the progress display.
    func endedFile() {
        guard isVisible else { return }
        state.withLock { state in
            state.finished += 1
            state.bar = nil
            if state.finished == total { StatusLine.erase() } else { draw(state) }
        }
    }

    /// Shows a line of text on standard error.
    func note(_ line: PrintableText) { printError("nw: download: \(line)") }

    private func draw(_ state: borrowing State) {
        let rate = Amounts.rate(UInt64(state.received), over: ContinuousClock.now - start)
        let text = "\(state.finished) of \(total) files, \(Amounts.bytes(UInt64(state.received))) \(rate)"
        StatusLine.show(PrintableText(foreign: text.prefix(max(0, TerminalScreen.columnCount - 1))))
    }
}
