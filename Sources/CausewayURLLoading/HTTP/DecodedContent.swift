internal import CausewayHTTP
internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// Decodes response content, on whichever thread brings content or demand.
///
/// While the task wants no bytes, received content stays encoded, so that a small response cannot expand to any size in memory.
final class DecodedContent: Sendable {
    /// The result of ``pump(while:_:)``.
    enum Progress {
        /// More content must arrive, more demand must arise, or another thread is at work.
        case waiting
        /// All content has been delivered.
        case finished
    }

    private struct State {
        var input = Deque<Data>()
        var hasInputEnded = false
        var isEndKnown = false
        var isPumping = false
        var mustRepeat = false
        var hasFinished = false
    }

    private let decoder: ContentDecoder
    private let state = LockedValue(State())

    init(_ decoder: ContentDecoder) { self.decoder = decoder }

    /// Whether received content waits to be decoded. The connection should not read meanwhile.
    var hasBacklog: Bool { state.withLock { state in !state.input.isEmpty } }

    func append(_ content: Data) { state.withLock { state in state.input.append(content) } }

    /// Marks the end of the received content.
    func end() { state.withLock { state in state.hasInputEnded = true } }

    /// Delivers decoded pieces while the task wants them.
    func pump(
        while wants: () -> Bool, _ deliver: (Data) -> Void
    ) throws(DecodingFailure) -> Progress {
        let isTurn = state.withLock { state in
            state.mustRepeat = state.isPumping
            defer { state.isPumping = true }
            return !state.isPumping && !state.hasFinished
        }
        guard isTurn else { return .waiting }
        while true {
            let isFinished = try decode(while: wants, deliver)
            let mustRepeat = state.withLock { state in
                if isFinished { state.hasFinished = true }
                guard !isFinished, state.mustRepeat else {
                    state.isPumping = false
                    return false
                }
                state.mustRepeat = false
                return true
            }
            if !mustRepeat { return isFinished ? .finished : .waiting }
        }
    }

    /// Returns whether all content has been decoded.
    private func decode(while wants: () -> Bool, _ deliver: (Data) -> Void) throws(DecodingFailure) -> Bool {
        while wants() {
            if let piece = try decoder.next() {
                deliver(piece)
                continue
            }
            let (input, hasEnded, wasKnown) = state.withLock { state -> (Data?, Bool, Bool) in
                let input = state.input.popFirst()
                defer { if input == nil, state.hasInputEnded { state.isEndKnown = true } }
                return (input, state.hasInputEnded, state.isEndKnown)
            }
            if let input {
                decoder.append(input)
            } else if !hasEnded {
                return false
            } else if wasKnown {
                return true
            } else {
                decoder.end()
            }
        }
        return false
    }
}
