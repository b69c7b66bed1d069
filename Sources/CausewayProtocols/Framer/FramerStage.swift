package import CausewayTypes

/// A protocol written by the program, seen from the stack: it holds what the program's framer parses and writes, and says when to call it.
///
/// The framer's code is called by the owner, never from here. ``FramerEvent/call(_:)`` names what to call; while it runs, it may use
/// every method of "What a framer does" in any order and any nesting; then the owner answers with the method that belongs to the call.
/// No second call is asked for before that. The same methods may be used between calls, for what a framer does on its own.
package struct FramerStage: ProtocolStage {
    /// The most bytes that a framer can ask to see at once, and that a peer can therefore make the stage hold.
    package static let windowLimit = 16 << 20

    var input = FramerInput()
    var output = FramerOutput()
    private var phase: StageStatus = .idle
    private(set) var call: FramerCall.Kind?
    private var isStartDue = false
    private var isWakeUpDue = false
    private var isStopDue = false
    private var isClosing = false
    private var needsCleanup = false
    private var deadline: Duration?
    /// Bytes that arrived, or became free, since the framer looked last.
    private var hasNews = false
    /// Windows of input that the framer has been shown and not yet answered.
    private var looks = 0
    private var isPassThroughDue = false
    private var wanted = 0
    private var unmet = 0
    private var progressBefore: UInt64 = 0
    private var toldEnd = false
    private(set) var deliveredEnd = false
    private var sentEnd = false

    package init() {}

    package var status: StageStatus {
        phase == .closed && !output.isDrained ? .ready : phase
    }

    package mutating func start(at now: Duration) {
        guard phase == .idle else { return }
        phase = .opening
        isStartDue = true
    }

    package var inboundRoom: Int {
        if isOver { return .max }
        guard hasRoomAbove else { return 0 }
        return max(0, max(Self.bufferLimit, wanted, unmet) - input.count)
    }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver else { return }
        input.receive(chunk)
        hasNews = true
        inputSettled()
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        if let chunk = input.pop(atMost: limit) { return chunk }
        // The framer was told of the end and has had its say.
        guard limit > 0, phase == .ready, call == nil, input.hasEnded, !deliveredEnd,
            input.isPassingThrough || toldEnd && !hasNews
        else { return nil }
        deliveredEnd = true
        return MessageChunk(ByteChain(), endsMessage: !input.isCutOff, isFinal: true)
    }

    package var outboundRoom: Int {
        isOver ? .max : max(0, Self.bufferLimit - output.byteCount)
    }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !isOver, !isClosing, !sentEnd else { return false }
        sentEnd = chunk.isFinal
        output.append(chunk)
        passOutboundEnd()
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { output.pop(atMost: limit) }

    package mutating func nextEvent() -> (any StageEvent)? {
        guard call == nil, let next = nextCall() else { return nil }
        call = next.kind
        progressBefore = input.progress
        return FramerEvent.call(next)
    }

    package var wakeUp: Duration? { isOver ? nil : deadline }

    package mutating func advance(to now: Duration) {
        guard let deadline, now >= deadline, !isOver else { return }
        self.deadline = nil
        isWakeUpDue = true
    }

    package mutating func close(at now: Duration) {
        guard !isOver, !isClosing else { return }
        isClosing = true
        // A framer that was never started has nothing to say.
        if needsCleanup { isStopDue = true } else { phase = .closed }
    }

    package mutating func abort(_ failure: Failure) {
        if !isOver { phase = isClosing ? .closed : .failed(failure) }
        input.removeAll()
        output.removeAll()
        deadline = nil
    }

    var isOver: Bool {
        switch phase {
        case .closed, .failed: true
        case .idle, .opening, .ready: false
        }
    }

    private var hasRoomAbove: Bool {
        input.delivered.byteCount < Self.bufferLimit && input.delivered.count < 1024
    }

    /// What to call next: what ends before what begins, and output before input, so that a peer cannot keep a framer from answering.
    private mutating func nextCall() -> FramerCall? {
        if isOver {
            guard needsCleanup else { return nil }
            needsCleanup = false
            return FramerCall(kind: .cleanup)
        }
        guard phase != .idle else { return nil }
        if isStartDue {
            isStartDue = false
            needsCleanup = true
            return FramerCall(kind: .start)
        }
        if isWakeUpDue {
            isWakeUpDue = false
            return FramerCall(kind: .wakeUp)
        }
        if phase == .ready, output.hasWaiting, !output.endWaits, let chunk = output.begin() {
            return FramerCall(
                kind: .output, metadata: chunk.metadata, length: chunk.bytes.count, isComplete: chunk.endsMessage)
        }
        if isStopDue, !output.hasWaiting || phase != .ready {
            isStopDue = false
            return FramerCall(kind: .stop)
        }
        return inputCall()
    }

    private mutating func inputCall() -> FramerCall? {
        guard hasNews, hasRoomAbove, !input.isPassingThrough else { return nil }
        let isComplete = input.isAtMessageEnd || input.hasEnded
        guard input.available > 0 || isComplete, input.available >= wanted || isComplete else { return nil }
        hasNews = false
        unmet = 0
        if input.hasEnded { toldEnd = true }
        return FramerCall(kind: .input, length: input.available, isComplete: isComplete)
    }

    /// Bytes that no decision waits for any more are news to the framer.
    private mutating func inputSettled() {
        if input.available > 0 || input.isAtMessageEnd { hasNews = true }
    }

    private mutating func passOutboundEnd() {
        guard call == nil, output.endWaits, phase == .ready else { return }
        output.passEnd()
    }

    private mutating func callEnded(_ kind: FramerCall.Kind) -> Bool {
        guard call == kind else { return false }
        call = nil
        endLooks(all: true)
        if kind == .output { output.finish() } else { output.endCall() }
        if output.passesThrough { output.flushWaiting() }
        passOutboundEnd()
        return true
    }
}

// MARK: - Answers to calls

extension FramerStage {
    /// Answers ``FramerCall/Kind/start``. A framer that is not ready calls ``markReady()`` later.
    package mutating func startEnded(isReady: Bool) {
        guard callEnded(.start), isReady else { return }
        markReady()
    }

    /// Answers ``FramerCall/Kind/input``.
    ///
    /// - Parameter wanted: How many bytes to wait for before the next call; 0 for any.
    package mutating func inputEnded(wanting wanted: Int) {
        guard callEnded(.input), !isOver else { return }
        self.wanted = max(0, wanted)
        guard max(self.wanted, unmet) <= Self.windowLimit else { return markFailed(.tooLong) }
        input.passEnd()
        if input.progress != progressBefore {
            inputSettled()
        } else if input.isAtMessageEnd {
            input.dropRestOfMessage()
            inputSettled()
        }
        // The end must be told even if the last bytes were the news.
        if input.hasEnded, !toldEnd { hasNews = true }
        if input.hasEnded, toldEnd, phase == .opening, !hasNews { markFailed(.endedEarly) }
    }

    /// Answers ``FramerCall/Kind/output``.
    package mutating func outputEnded() { _ = callEnded(.output) }

    /// Answers ``FramerCall/Kind/wakeUp``.
    package mutating func wakeUpEnded() { _ = callEnded(.wakeUp) }

    /// Answers ``FramerCall/Kind/stop``. A framer that is not done calls ``markFailed(_:)`` later.
    package mutating func stopEnded(isDone: Bool) {
        guard callEnded(.stop), isDone, !isOver else { return }
        phase = .closed
    }

    /// Answers ``FramerCall/Kind/cleanup``. Nothing follows.
    package mutating func cleanupEnded() { _ = callEnded(.cleanup) }
}

// MARK: - What a framer does

extension FramerStage {
    package mutating func markReady() {
        guard phase == .opening, !isClosing else { return }
        phase = .ready
        passOutboundEnd()
    }

    /// Fails the connection; without a failure, or while closing, ends it.
    package mutating func markFailed(_ failure: Failure?) {
        guard !isOver else { return }
        output.endCall()
        if isClosing { phase = .closed } else { phase = .failed(failure ?? .aborted) }
        deadline = nil
    }

    /// The bytes at the cursor. They stay there until ``advanceInput(by:)`` answers, or the call ends.
    package mutating func inputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        guard !isOver else { return FramerWindow(bytes: [], isComplete: false, meetsMinimum: false) }
        looks += 1
        let minimum = min(minimum, maximum)
        let (bytes, isComplete) = input.window(maximum)
        let meetsMinimum = bytes.count >= minimum
        if !meetsMinimum { unmet = max(unmet, minimum) }
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    /// Moves the cursor; beyond what is there, bytes are skipped as they arrive.
    package mutating func advanceInput(by count: Int) {
        guard !isOver else { return }
        input.skip(count)
        endLooks(all: false)
    }

    private mutating func endLooks(all: Bool) {
        looks = all ? 0 : max(0, looks - 1)
        guard isPassThroughDue, looks == 0 else { return }
        isPassThroughDue = false
        input.passThrough()
    }

    /// From here on the framer does not look at input any more.
    ///
    /// Said while it looks at a window, that is from where it moves the cursor to: what it has parsed is its own.
    package mutating func passThroughInput() {
        guard !isOver else { return }
        if looks > 0 { isPassThroughDue = true } else { input.passThrough() }
    }

    /// Sets the one timer; `nil` stops it.
    package mutating func scheduleWakeUp(at deadline: Duration?) {
        guard !isOver else { return }
        self.deadline = deadline
        isWakeUpDue = false
    }
}
