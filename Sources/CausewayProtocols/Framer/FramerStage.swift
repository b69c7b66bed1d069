package import CausewayTypes

/// A stage for a framer that the program implements (`NWProtocolFramer`). It buffers the framer's input and output, and
/// asks its owner to call the framer.
///
/// The stage itself never calls the framer's code. ``FramerEvent/call(_:)`` contains the call to make. During the call
/// the framer may call the stage's methods (``markReady()``, ``markFailed(_:)``, ``scheduleWakeUp(at:)`` and those that
/// parse, deliver and send content) in any order and nested. When the call returns, the owner calls the matching
/// method, such as ``inputEnded(wanting:)``; only then does the stage request the next call. The framer may also call
/// the stage's methods between these calls.
package struct FramerStage: ProtocolStage {
    /// The maximum number of bytes that the framer may wait for (16 MiB). If the framer requests more, the stage fails
    /// with `tooLong`. The limit also bounds the memory that a peer can occupy.
    package static let windowLimit = 16 << 20

    /// The framer's only timer.
    private enum Timer {
        case stopped
        case scheduled(Duration)
        /// The timer has fired, so the `wakeUp` call is due.
        case expired
    }

    private var reading = FramerReading()
    private var output = FramerOutput()
    /// The call to the framer that is in progress; `nil` if there is none.
    private var call: FramerCall.Kind?
    private var life = FramerLifecycle()
    private var timer = Timer.stopped

    package init() {}

    package var status: StageStatus {
        let status = life.status
        if case .closed = status, !output.isDrained { return .ready }
        return status
    }

    package mutating func start(at now: Duration) { life.start() }

    // MARK: Content

    package var inboundRoom: Int { life.isOver ? .max : reading.room }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !life.isOver else { return }
        reading.receive(chunk)
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        if let chunk = reading.pop(atMost: limit) { return chunk }
        guard limit > 0, life.isReady, call == nil else { return nil }
        return reading.takeEnd()
    }

    package var outboundRoom: Int {
        life.isOver ? .max : max(0, Self.bufferLimit - output.byteCount)
    }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !life.isOver, !life.isClosing, !output.hasEnd else { return false }
        output.append(chunk)
        passOutboundEnd()
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { output.pop(atMost: limit) }

    private mutating func passOutboundEnd() {
        guard call == nil, output.endWaits, life.isReady else { return }
        output.passEnd()
    }

    // MARK: Time

    package var deadline: Duration? {
        if case .scheduled(let time) = timer, !life.isOver { time } else { nil }
    }

    package mutating func advance(to now: Duration) {
        guard let deadline, now >= deadline else { return }
        timer = .expired
    }

    /// Sets the framer's only timer; `nil` stops it.
    package mutating func scheduleWakeUp(at deadline: Duration?) {
        guard !life.isOver else { return }
        timer = deadline.map(Timer.scheduled) ?? .stopped
    }

    // MARK: End

    package mutating func close(at now: Duration) { life.close() }

    package mutating func abort(_ failure: Failure) {
        life.end(failure)
        reading.removeAll()
        output.removeAll()
    }

    package mutating func markReady() {
        guard life.becameReady() else { return }
        passOutboundEnd()
    }

    /// Ends the stage with a failure. If the stage is already closing, it becomes `closed` instead.
    package mutating func markFailed(_ failure: Failure?) {
        guard !life.isOver else { return }
        output.endCall()
        life.end(failure ?? .aborted)
    }
}

// MARK: - Calls

extension FramerStage {
    package mutating func nextEvent() -> (any StageEvent)? { nextCall().map { FramerEvent.call($0) } }

    /// Selects the next call. A cleanup call comes first. Output comes before input, so that a peer's input cannot
    /// block the framer's output.
    private mutating func nextCall() -> FramerCall? {
        guard call == nil else { return nil }
        let next: FramerCall?
        if let kind = life.outerCall() {
            next = FramerCall(kind: kind)
        } else if life.isRunning {
            next = wakeUpCall() ?? outputCall() ?? stopCall() ?? reading.nextCall()
        } else {
            next = nil
        }
        call = next?.kind
        return next
    }

    private mutating func wakeUpCall() -> FramerCall? {
        guard case .expired = timer else { return nil }
        timer = .stopped
        return FramerCall(kind: .wakeUp)
    }

    private mutating func outputCall() -> FramerCall? {
        guard life.isReady, output.hasWaiting, !output.endWaits, let chunk = output.begin() else { return nil }
        return FramerCall(
            kind: .output, metadata: chunk.metadata, length: chunk.bytes.count, isComplete: chunk.endsMessage)
    }

    private mutating func stopCall() -> FramerCall? {
        life.stopCall(contentWaits: output.hasWaiting).map { FramerCall(kind: $0) }
    }

    /// Ends the framer call in progress if it is of the given kind. Otherwise returns `false`.
    private mutating func callEnded(_ kind: FramerCall.Kind) -> Bool {
        guard call == kind else { return false }
        call = nil
        reading.endLook()
        if kind == .output { output.finish() } else { output.endCall() }
        if output.passesThrough { output.flushWaiting() }
        passOutboundEnd()
        return true
    }

    /// Completes a ``FramerCall/Kind/start`` call. A framer that is not ready calls ``markReady()`` later.
    package mutating func startEnded(isReady: Bool) {
        guard callEnded(.start), isReady else { return }
        markReady()
    }

    /// Completes a ``FramerCall/Kind/input`` call.
    ///
    /// - Parameter wanted: The number of bytes to wait for before the next call; 0 for any number.
    package mutating func inputEnded(wanting wanted: Int) {
        guard callEnded(.input), !life.isOver else { return }
        reading.want(wanted)
        guard !reading.exceedsLimit else { return markFailed(.tooLong) }
        reading.callEnded()
        // The input has ended, so no further bytes can complete the framer's handshake.
        if !life.isReady, reading.isExhausted { markFailed(.endedEarly) }
    }

    /// Completes a ``FramerCall/Kind/output`` call.
    package mutating func outputEnded() { _ = callEnded(.output) }

    /// Completes a ``FramerCall/Kind/wakeUp`` call.
    package mutating func wakeUpEnded() { _ = callEnded(.wakeUp) }

    /// Completes a ``FramerCall/Kind/stop`` call. If the framer is not done, it calls ``markFailed(_:)`` later.
    package mutating func stopEnded(isDone: Bool) {
        guard callEnded(.stop), isDone else { return }
        life.end(nil)
    }

    /// Completes the ``FramerCall/Kind/cleanup`` call, which is the framer's final call.
    package mutating func cleanupEnded() { _ = callEnded(.cleanup) }
}

// MARK: - Content of the framer

/// Methods for the framer to parse, deliver and send content.
extension FramerStage {
    /// Returns the bytes at the cursor without moving it. The framer moves the cursor with ``advanceInput(by:)``.
    package mutating func inputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        guard !life.isOver else { return FramerWindow(bytes: [], isComplete: false, meetsMinimum: false) }
        return reading.window(minimum: minimum, maximum: maximum)
    }

    /// Moves the cursor by `count` bytes. If fewer bytes have arrived, the other bytes are skipped when they arrive.
    package mutating func advanceInput(by count: Int) {
        guard !life.isOver else { return }
        reading.advance(by: count)
    }

    /// Passes all further input to the stage above, without calls to the framer.
    ///
    /// The framer may have read bytes with ``inputWindow(minimum:maximum:)``. The direct passing then begins after one
    /// call of ``advanceInput(by:)`` for each of these reads, or at the end of the framer's current call. Bytes that
    /// ``advanceInput(by:)`` skips are not delivered.
    package mutating func passThroughInput() {
        guard !life.isOver else { return }
        reading.passThrough()
    }

    /// Delivers a message, or part of one, to the stage above.
    package mutating func deliver(_ bytes: ByteChain, metadata: [any StageMetadata], endsMessage: Bool) {
        guard !life.isOver, !reading.hasDeliveredEnd else { return }
        reading.deliver(MessageChunk(bytes, metadata: metadata, endsMessage: endsMessage))
    }

    /// Delivers the next `count` received bytes unchanged to the protocol above.
    ///
    /// - Returns: Whether all these bytes have arrived. If not, the missing bytes are delivered when they arrive. Until
    ///   then, the framer has no input to parse.
    package mutating func deliverNext(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        guard !life.isOver, !reading.hasDeliveredEnd else { return false }
        return reading.deliver(count, metadata: metadata, endsMessage: endsMessage)
    }

    /// Returns the outgoing message's next bytes. The result is empty outside a ``FramerCall/Kind/output`` call.
    package mutating func outputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        let (bytes, isComplete) = output.window(maximum)
        let meetsMinimum = bytes.count >= min(minimum, maximum)
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    package mutating func advanceOutput(by count: Int) { output.skip(count) }

    /// Sends bytes to the stage below. All bytes that are written during one framer call become one message.
    package mutating func write(_ bytes: ByteChain) {
        guard !life.isOver else { return }
        output.write(bytes)
        if call == nil { output.endCall() }
    }

    /// Sends the next `count` bytes of the message unchanged.
    ///
    /// - Returns: `false` outside a ``FramerCall/Kind/output`` call, or if the message has fewer bytes. Nothing is sent
    ///   then.
    package mutating func writeNext(_ count: Int) -> Bool {
        !life.isOver && output.writeNext(count)
    }

    /// Passes all further output unchanged to the protocol below, without calling the framer.
    package mutating func passThroughOutput() {
        guard !life.isOver else { return }
        output.passThrough()
    }
}

extension FramerStage: StateMachine {
    package typealias Action = FramerCall

    /// Whether all calls to the framer have been made. The last call was `cleanup`, unless the framer was never
    /// started.
    package var hasEnded: Bool { life.hasEnded }

    package mutating func takeActions(dueAt now: Duration) -> [FramerCall] {
        advance(to: now)
        return nextCall().map { [$0] } ?? []
    }
}
