import CausewaySystem
import CausewayTypes

/// One transfer's progress on the ``StatusLine``. Shows nothing if standard error is not a terminal.
struct ProgressBar {
    /// The number of columns for the name, and for the bar. A narrower terminal uses fewer columns.
    private static let (nameWidth, barWidth) = (30, 24)
    /// The minimum number of columns for the transfer's name. If fewer are free, the name is not shown.
    private static let minimumNameWidth = 8
    /// The minimum time between two updates.
    private static let interval = Duration.milliseconds(100)

    private let name: String
    /// The file position at which the transfer ends, in bytes; `nil` if unknown.
    private let byteCount: UInt64?
    /// The position in bytes at which the transfer starts.
    private let origin: UInt64
    private let isWanted: Bool
    private let start = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    private var position: UInt64 = 0

    /// - Parameters:
    ///   - byteCount: The end position; `nil` if unknown.
    ///   - origin: The start position.
    ///   - isWanted: `false` to show nothing.
    init(_ name: String, byteCount: UInt64?, from origin: UInt64 = 0, isWanted: Bool = true) {
        self.isWanted = isWanted
        self.origin = origin
        position = origin
        self.name = PrintableText(foreign: name).text
        self.byteCount = byteCount
    }

    mutating func advance(to position: UInt64) {
        self.position = position
        let now = ContinuousClock.now
        if let drawn, now - drawn < Self.interval { return }
        drawn = now
        draw()
    }

    /// Draws the progress bar a last time. It then stays on the terminal.
    func finish() {
        guard isWanted else { return }
        draw()
        StatusLine.leave()
    }

    /// Removes the line.
    func remove() {
        if isWanted { StatusLine.erase() }
    }

    private func draw() {
        guard isWanted, StatusLine.isAvailable else { return }
        StatusLine.show(line(columns: TerminalScreen.columnCount, after: ContinuousClock.now - start))
    }

    /// Returns the progress line for a terminal with this number of columns. The last column stays free, because some
    /// terminals begin a new line after it.
    func line(columns: Int, after time: Duration) -> PrintableText {
        let room = columns - 1
        let rate = Amounts.rate(position - min(origin, position), over: time)
        guard let byteCount else { return named("\(Amounts.bytes(position)) \(rate)", room) }
        let share = byteCount == 0 ? 1 : min(1, Double(position) / Double(byteCount))
        let tail = "\(Amounts.decimal(share * 100, places: 0))% \(rate)"
        guard room >= Self.nameWidth + Self.barWidth + tail.count + 4 else { return named(tail, room) }
        let full = Int(share * Double(Self.barWidth))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.barWidth - full)
        return named("[\(bar)] \(tail)", room)
    }

    /// Returns the transfer's name, truncated to the available columns, and then `text`. If too few columns are free
    /// for a name, returns only `text`, truncated to the available columns.
    private func named(_ text: String, _ room: Int) -> PrintableText {
        let width = min(Self.nameWidth, room - text.count - 1)
        guard width >= Self.minimumNameWidth else { return PrintableText(foreign: text.prefix(max(0, room))) }
        let shown = name.prefix(columns: width)
        return PrintableText(foreign: shown + String(repeating: " ", count: width - shown.columnCount + 1) + text)
    }
}
