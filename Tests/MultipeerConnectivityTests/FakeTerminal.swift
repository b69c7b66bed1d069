import CausewaySystem
import CausewayTypes

@testable import MultipeerConnectivity

/// A terminal whose input a test types.
final class FakeTerminal: Terminal {
    private struct State: Sendable {
        var written: [String] = []
        var handler: (@Sendable ([UInt8]) -> Void)?
    }

    private let state = LockedValue(State())

    var size: (columns: Int, lines: Int) { (80, 24) }
    var written: [String] { state.withLock { $0.written } }
    var isReading: Bool { state.withLock { $0.handler != nil } }

    func write(_ text: PrintableText) { state.withLock { $0.written.append(text.text) } }
    func beginReading(isRaw: Bool, _ handler: @escaping @Sendable ([UInt8]) -> Void) {
        state.withLock { $0.handler = handler }
    }
    func endReading() { state.withLock { $0.handler = nil } }

    /// Types bytes on the fake terminal. An empty array means the end of input.
    func type(_ bytes: [UInt8]) { state.withLock { $0.handler }?(bytes) }
}
