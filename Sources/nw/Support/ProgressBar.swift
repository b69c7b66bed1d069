import CausewaySystem
import CausewayTypes

/// A line on the terminal that shows the progress of a transfer; nothing if standard error is not a terminal.
struct ProgressBar {
    private static let width = 24
    /// Minimum time between two updates of the line.
    private static let interval = Duration.milliseconds(100)

    private let name: PrintableText
    /// `nil` if unknown.
    private let byteCount: UInt64?
    /// The position at which the transfer began.
    private let origin: UInt64
    private let isVisible: Bool
    private let start = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    private var position: UInt64 = 0

    /// - Parameters:
    ///   - byteCount: The position at the end; `nil` if unknown.
    ///   - origin: The position at the start.
    ///   - isWanted: `false` to show nothing.
    init(_ name: String, byteCount: UInt64?, from origin: UInt64 = 0, isWanted: Bool = true) {
        isVisible = isWanted && OpenFile.standardError.kind == .terminal
        self.origin = origin
        position = origin
        self.name = PrintableText(foreign: PrintableText(foreign: name).text.prefix(30)).padded(to: 30)
        self.byteCount = byteCount
    }

    mutating func advance(to position: UInt64) {
        self.position = position
        let now = ContinuousClock.now
        if let drawn, now - drawn < Self.interval { return }
        drawn = now
        draw(ending: "")
    }

    /// Draws the final state and ends the line.
    mutating func finish() {
        draw(ending: "\n")
    }

    private func draw(ending: PrintableText) {
        guard isVisible else { return }
        let rate = Amounts.rate(position - min(origin, position), over: ContinuousClock.now - start)
        guard let byteCount else {
            try? OpenFile.standardError.put("\r\(name) \(Amounts.bytes(position)) \(rate)   \(ending)")
            return
        }
        let share = byteCount == 0 ? 1 : min(1, Double(position) / Double(byteCount))
        let full = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.width - full)
        let line: PrintableText = "\r\(name) [\(bar)] \(Amounts.decimal(share * 100, places: 0))% \(rate)   \(ending)"
        try? OpenFile.standardError.put(line)
    }
}
