/// The read side of a ``FramerStage``: decides when the framer is called for its input.
struct FramerReading: Sendable {
    /// The framer's pending reads of the input. A read is pending until the framer moves the cursor. Each read returns
    /// a window, which is a view of the input.
    private enum Look {
        case none
        /// - Parameter passesThrough: Whether the input after the pending reads goes unchanged to the protocol above. A
        ///   read ends when the framer moves the cursor.
        case pending(windows: Int, passesThrough: Bool)
    }

    /// How far the end of the input has been reported: to the framer, or to the stage above.
    private enum End {
        /// The input has ended, but the framer has not been called since then.
        case unreported
        case reported
        /// The stage above has been told that the input has ended.
        case delivered
    }

    private var input = FramerInput()
    private var look = Look.none
    private var end = End.unreported
    /// Whether bytes have arrived, or have become readable, since the framer was last called for input.
    private var hasNewInput = false
    /// The minimum number of readable bytes for the next input call.
    private var wanted = 0
    /// The largest minimum of the framer's unsatisfied reads since the latest input call. A read is unsatisfied if
    /// fewer bytes than its minimum are available.
    private var unmet = 0
    /// The number of bytes and message ends that the framer had consumed before the latest input call. If this number
    /// is the same after the call, the framer made no progress.
    private var progressBefore: UInt64 = 0

    init() {}

    /// Whether the stage above has received the end of input, so that nothing more may be delivered.
    var hasDeliveredEnd: Bool { end == .delivered }
    /// Whether the framer needs more bytes than a stage may buffer for it.
    var exceedsLimit: Bool { max(wanted, unmet) > FramerStage.windowLimit }
    /// Whether the framer has been called for all input, and has learned that the input has ended.
    var isExhausted: Bool { input.hasEnded && end != .unreported && !hasNewInput }

    /// The number of bytes that the stage below may pass to this stage now.
    var room: Int {
        guard hasRoomAbove, input.messageCount < MessageChunkQueue.chunkLimit else { return 0 }
        return max(0, max(MessageChunkQueue.byteLimit, wanted, unmet) - input.count)
    }

    private var hasRoomAbove: Bool { input.delivered.room > 0 }

    mutating func receive(_ chunk: MessageChunk) {
        input.receive(chunk)
        hasNewInput = true
    }

    // MARK: Calls

    /// Returns the next call that passes input to the framer.
    ///
    /// Returns `nil` if the framer has nothing to parse. Also returns `nil` if the protocol above has no room for the
    /// result.
    mutating func nextCall() -> FramerCall? {
        guard hasNewInput, hasRoomAbove, !input.isPassingThrough else { return nil }
        let isComplete = input.isAtMessageEnd || input.hasEnded
        guard input.available > 0 || isComplete, input.available >= wanted || isComplete else { return nil }
        hasNewInput = false
        unmet = 0
        progressBefore = input.progress
        if input.hasEnded, end == .unreported { end = .reported }
        return FramerCall(kind: .input, length: input.available, isComplete: isComplete)
    }

    /// Records how many bytes the next input call waits for. Check ``exceedsLimit`` afterwards.
    mutating func want(_ count: Int) { wanted = max(0, count) }

    /// Handles the end of an input call to the framer.
    mutating func callEnded() {
        input.passEnd()
        if input.progress != progressBefore {
            requestCall()
        } else if input.isAtMessageEnd {
            // The framer had the complete message, but did not move the cursor. So it will not parse the remaining
            // bytes of this message. Discard them, so that the next message can be parsed.
            input.dropRestOfMessage()
            requestCall()
        }
        // The framer must be called once more to learn that the input has ended.
        if input.hasEnded, end == .unreported { hasNewInput = true }
    }

    /// Requests a call of the framer's input handler, if there are bytes to parse or if a message has ended.
    private mutating func requestCall() {
        if input.available > 0 || input.isAtMessageEnd { hasNewInput = true }
    }

    // MARK: The framer's methods

    mutating func window(minimum: Int, maximum: Int) -> FramerWindow {
        switch look {
        case .none: look = .pending(windows: 1, passesThrough: false)
        case .pending(let windows, let passesThrough):
            look = .pending(windows: windows + 1, passesThrough: passesThrough)
        }
        let minimum = min(minimum, maximum)
        let (bytes, isComplete) = input.window(maximum)
        let meetsMinimum = bytes.count >= minimum
        if !meetsMinimum { unmet = max(unmet, minimum) }
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    mutating func advance(by count: Int) {
        input.skip(count)
        guard case .pending(let windows, let passesThrough) = look else { return }
        if windows > 1 {
            look = .pending(windows: windows - 1, passesThrough: passesThrough)
        } else {
            endLook()
        }
    }

    /// Handles the end of a framer call: discards the framer's reads for which it did not move the cursor.
    ///
    /// The framer may have requested that all further input is passed unchanged to the protocol above. This then begins
    /// now.
    mutating func endLook() {
        guard case .pending(_, let passesThrough) = look else { return }
        look = .none
        if passesThrough { input.passThrough() }
    }

    /// From now on, passes all input to the stage above. If the framer has already read input, it must first move the
    /// cursor once for each of its reads.
    mutating func passThrough() {
        switch look {
        case .none: input.passThrough()
        case .pending(let windows, _): look = .pending(windows: windows, passesThrough: true)
        }
    }

    mutating func deliver(_ chunk: MessageChunk) { input.deliver(chunk) }

    mutating func deliver(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        input.deliver(count, metadata: metadata, endsMessage: endsMessage)
    }

    // MARK: The stage above

    mutating func pop(atMost limit: Int) -> MessageChunk? { input.pop(atMost: limit) }

    /// Returns the end of the input, but only once. Before that, the framer must have processed all input, including
    /// the end.
    mutating func takeEnd() -> MessageChunk? {
        guard input.hasEnded, end != .delivered, input.isPassingThrough || isExhausted else { return nil }
        end = .delivered
        return MessageChunk(ByteChain(), endsMessage: !input.isCutOff, isFinal: true)
    }

    mutating func removeAll() { input.removeAll() }
}
