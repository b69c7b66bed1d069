import CausewaySystem
import CausewayTypes
import Synchronization

/// The progress of all downloads of a run: a bar for one file, a count for several.
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
        isVisible = isWanted && OpenFile.standardError.kind == .terminal
    }

    /// Content of a file begins to arrive.
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
            draw(state, ending: "")
        }
    }

    /// A file is complete or has failed.
    func finishedFile() {
        state.withLock { state in
            state.finished += 1
            state.bar?.finish()
            state.bar = nil
            guard isVisible, total > 1 else { return }
            draw(state, ending: state.finished == total ? "\n" : "")
        }
    }

    /// Shows a line of text on standard error.
    func note(_ line: PrintableText) { printError("nw: download: \(line)") }

    private func draw(_ state: borrowing State, ending: PrintableText) {
        let rate = Amounts.rate(UInt64(state.received), over: ContinuousClock.now - start)
        let amount = Amounts.bytes(UInt64(state.received))
        try? OpenFile.standardError.put("\r\(state.finished) of \(total) files, \(amount) \(rate)   \(ending)")
    }
}
