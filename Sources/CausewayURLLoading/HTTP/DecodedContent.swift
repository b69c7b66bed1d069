internal import CausewayHTTP
internal import CausewaySystem
internal import DequeModule
internal import Foundation

/// Decodes response content. Content is decoded on the thread on which it arrives, or on which the task asks for more.
///
/// While the task wants no bytes, received content stays encoded, so that a small response cannot expand to any size in
/// memory.
final class DecodedContent: Sendable {
    /// What a call of ``pump(while:_:)`` achieved.
    enum Progress {
        /// Decoding has paused for one of three reasons: the decoder needs more content, the task wants no more bytes,
        /// or another thread is decoding.
        case waiting
        /// All content has been delivered.
        case finished
    }

    private struct State {
        var input = Deque<Data>()
        var inputEnd = InputEnd.open
        var deliveredCount: Int64 = 0
        var pump = Pump.idle
    }

    /// How far the end of the content has been processed by the decoder.
    fileprivate enum InputEnd {
        /// More content may arrive.
        case open
        case arrived
        /// The decoder has been notified that the input has ended.
        case passed
    }

    fileprivate enum Pump {
        case idle
        case running
        /// One call of `pump` is running, and another thread has called `pump` since it began. Before the running call
        /// ends, it must check again for content and for demand.
        case runningAgain
        case finished
    }

    private let decoder: ContentDecoder
    /// Splits decoded `multipart/x-mixed-replace` content into its parts; `nil` for other content.
    let parts: ReplacingParts?
    private let state = LockedValue(State())

    init(_ decoder: ContentDecoder, splitBy parts: ReplacingParts? = nil) {
        self.decoder = decoder
        self.parts = parts
    }

    /// Whether received content still waits to be decoded. While this is `true`, the connection should not be read.
    var hasBacklog: Bool { state.withLock { state in !state.input.isEmpty } }

    /// The number of decoded bytes that were delivered.
    var deliveredCount: Int64 { state.withLock { state in state.deliveredCount } }

    func append(_ content: Data) { state.withLock { state in state.input.append(content) } }

    /// Records that no more content will arrive.
    func end() { state.withLock { state in if state.inputEnd == .open { state.inputEnd = .arrived } } }

    /// Delivers decoded pieces while the task wants them.
    func pump(
        while wants: () -> Bool, _ deliver: (Data) -> Void
    ) throws(DecodingFailure) -> Progress {
        guard state.withLock({ state in state.pump.begin() }) else { return .waiting }
        while true {
            // If `decode` throws an error, the state remains `running`, so that later calls of `pump` deliver nothing.
            let isFinished = try decode(while: wants, deliver)
            let mustRepeat = state.withLock { state in state.pump.end(isFinished: isFinished) }
            if !mustRepeat { return isFinished ? .finished : .waiting }
        }
    }

    /// Returns whether all content has been decoded.
    private func decode(while wants: () -> Bool, _ deliver: (Data) -> Void) throws(DecodingFailure) -> Bool {
        while wants() {
            if let piece = try decoder.next() {
                state.withLock { state in state.deliveredCount += Int64(piece.count) }
                deliver(piece)
                continue
            }
            let (input, end) = state.withLock { state -> (Data?, InputEnd) in
                let input = state.input.popFirst()
                defer { if input == nil, state.inputEnd == .arrived { state.inputEnd = .passed } }
                return (input, state.inputEnd)
            }
            if let input {
                decoder.append(input)
                continue
            }
            switch end {
            case .open: return false
            case .arrived: decoder.end()
            case .passed: return true
            }
        }
        return false
    }
}

extension DecodedContent.Pump {
    /// Returns whether the caller must decode and deliver content. If another thread already does this work, that
    /// thread checks again for content and demand.
    fileprivate mutating func begin() -> Bool {
        switch self {
        case .idle:
            self = .running
            return true
        case .running, .runningAgain:
            self = .runningAgain
            return false
        case .finished: return false
        }
    }

    /// Ends this thread's run. Returns `true` if another thread has requested a further run meanwhile. The caller must
    /// then decode and deliver again.
    fileprivate mutating func end(isFinished: Bool) -> Bool {
        let mustRepeat = self == .runningAgain && !isFinished
        self = isFinished ? .finished : mustRepeat ? .running : .idle
        return mustRepeat
    }
}
