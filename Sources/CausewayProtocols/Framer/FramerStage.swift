package import CausewayTypes

/// A stage for a framer that the program implements (`NWProtocolFramer`). It buffers the framer's input and output, and
/// asks its owner to call the framer.
///
/// The stage itself never calls the framer's code. ``FramerEvent/call(_:)`` contains the call to make. During the call
/// the framer may use all methods in the section "Methods for the framer", in any order and nested. When the call
/// returns, the owner calls the matching method in the section "Completion of calls"; only then does the stage request
/// the next call. The framer may also use its methods between calls.
package struct FramerStage: ProtocolStage {
    /// The maximum number of bytes that the framer may wait for (16 MiB). A request for more fails the stage with
    /// `tooLong`. The limit also bounds the bytes that a peer can make the stage buffer.
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
    private var scheduledTime: Duration?
    /// Whether bytes have arrived or become readable since the last input call.
    private var hasNewInput = false
    /// Counts ``inputWindow(minimum:maximum:)`` calls that have no matching ``advanceInput(by:)`` yet.
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
        guard hasRoomAbove, input.messageCount < MessageChunkQueue.chunkLimit else { return 0 }
        return max(0, max(Self.bufferLimit, wanted, unmet) - input.count)
    }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver else { return }
        input.receive(chunk)
        hasNewInput = true
        inputSettled()
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        if let chunk = input.pop(atMost: limit) { return chunk }
        // Deliver the end of input only after the framer has processed all input, including its end.
        guard limit > 0, phase == .ready, call == nil, input.hasEnded, !deliveredEnd,
            input.isPassingThrough || toldEnd && !hasNewInput
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

    package var deadline: Duration? { isOver ? nil : scheduledTime }

    package mutating func advance(to now: Duration) {
        guard let scheduledTime, now >= scheduledTime, !isOver else { return }
        self.scheduledTime = nil
        isWakeUpDue = true
    }

    package mutating func close(at now: Duration) {
        guard !isOver, !isClosing else { return }
        isClosing = true
        // A framer that was never started needs no call.
        if needsCleanup { isStopDue = true } else { phase = .closed }
    }

    package mutating func abort(_ failure: Failure) {
        if !isOver { phase = isClosing ? .closed : .failed(failure) }
        input.removeAll()
        output.removeAll()
        scheduledTime = nil
    }

    var isOver: Bool {
        switch phase {
        case .closed, .failed: true
        case .idle, .opening, .ready: false
        }
    }

    private var hasRoomAbove: Bool { input.delivered.room > 0 }

    /// Selects the next call: cleanup first, and output before input, so that a peer's input cannot block the framer's
    /// output.
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
        guard hasNewInput, hasRoomAbove, !input.isPassingThrough else { return nil }
        let isComplete = input.isAtMessageEnd || input.hasEnded
        guard input.available > 0 || isComplete, input.available >= wanted || isComplete else { return nil }
        hasNewInput = false
        unmet = 0
        if input.hasEnded { toldEnd = true }
        return FramerCall(kind: .input, length: input.available, isComplete: isComplete)
    }

    /// Requests an input call if there are bytes to parse or a message has ended.
    private mutating func inputSettled() {
        if input.available > 0 || input.isAtMessageEnd { hasNewInput = true }
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

// MARK: - Completion of calls

extension FramerStage {
    /// Completes a ``FramerCall/Kind/start`` call. A framer that is not ready calls ``markReady()`` later.
    package mutating func startEnded(isReady: Bool) {
        guard callEnded(.start), isReady else { return }
        markReady()
    }

    /// Completes a ``FramerCall/Kind/input`` call.
    ///
    /// - Parameter wanted: The number of bytes to wait for before the next call; 0 for any number.
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
        // The framer needs another call for the end of input.
        if input.hasEnded, !toldEnd { hasNewInput = true }
        if input.hasEnded, toldEnd, phase == .opening, !hasNewInput { markFailed(.endedEarly) }
    }

    /// Completes a ``FramerCall/Kind/output`` call.
    package mutating func outputEnded() { _ = callEnded(.output) }

    /// Completes a ``FramerCall/Kind/wakeUp`` call.
    package mutating func wakeUpEnded() { _ = callEnded(.wakeUp) }

    /// Completes a ``FramerCall/Kind/stop`` call. If the framer is not done, it calls ``markFailed(_:)`` later.
    package mutating func stopEnded(isDone: Bool) {
        guard callEnded(.stop), isDone, !isOver else { return }
        phase = .closed
    }

    /// Completes the ``FramerCall/Kind/cleanup`` call, which is the last one.
    package mutating func cleanupEnded() { _ = callEnded(.cleanup) }
}

// MARK: - Methods for the framer

extension FramerStage {
    package mutating func markReady() {
        guard phase == .opening, !isClosing else { return }
        phase = .ready
        passOutboundEnd()
    }

    /// Ends the stage with a failure. If the stage is already closing, it becomes `closed` instead.
    package mutating func markFailed(_ failure: Failure?) {
        guard !isOver else { return }
        output.endCall()
        if isClosing { phase = .closed } else { phase = .failed(failure ?? .aborted) }
        scheduledTime = nil
    }

    /// Returns the bytes at the cursor without moving it. The framer moves the cursor with ``advanceInput(by:)``.
    package mutating func inputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        guard !isOver else { return FramerWindow(bytes: [], isComplete: false, meetsMinimum: false) }
        looks += 1
        let minimum = min(minimum, maximum)
        let (bytes, isComplete) = input.window(maximum)
        let meetsMinimum = bytes.count >= minimum
        if !meetsMinimum { unmet = max(unmet, minimum) }
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    /// Moves the cursor by `count` bytes. If fewer have arrived, the rest is skipped on arrival.
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

    /// Passes all further input to the stage above, without calls to the framer.
    ///
    /// If the framer has read bytes with ``inputWindow(minimum:maximum:)`` but has not moved the cursor yet, the pass-through waits for
    /// ``advanceInput(by:)`` or the end of the call. The bytes that the framer has parsed are then not delivered.
    package mutating func passThroughInput() {
        guard !isOver else { return }
        if looks > 0 { isPassThroughDue = true } else { input.passThrough() }
    }

    /// Sets the framer's only timer; `nil` stops it.
    package mutating func scheduleWakeUp(at deadline: Duration?) {
        guard !isOver else { return }
        scheduledTime = deadline
        isWakeUpDue = false
    }
}
