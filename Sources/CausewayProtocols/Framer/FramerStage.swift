internal import CausewayMachines
package import CausewayTypes

/// A stage for a framer that the program implements (`NWProtocolFramer`). It buffers the framer's input and output, and
/// asks its owner to call the framer.
///
/// The stage itself never calls the framer's code. ``FramerEvent/call(_:)`` contains the call to make. During the call
/// the framer may use its methods (``markReady()``, ``markFailed(_:)``, ``scheduleWakeUp(at:)`` and those in `FramerStage+Content.swift`)
/// in any order and nested. When the call returns, the owner calls the matching method, such as ``inputEnded(wanting:)``; only then does
/// the stage request the next call. The framer may also use its methods between calls.
package struct FramerStage: ProtocolStage {
    /// The maximum number of bytes that the framer may wait for (16 MiB). A request for more fails the stage with
    /// `tooLong`. The limit also bounds the bytes that a peer can make the stage buffer.
    package static let windowLimit = 16 << 20

    /// The progress of a `stop` call, after ``close(at:)``.
    private enum Stop {
        case notRequested, due, called
    }

    private enum Phase {
        case idle
        /// The `start` call is due.
        case starting
        /// The framer was called and is not ready.
        case opening(Stop)
        case ready(Stop)
        /// - Parameter failure: `nil` if the stage was closed.
        /// - Parameter needsCleanup: Whether the `cleanup` call is due.
        case ended(Failure?, needsCleanup: Bool)
    }

    /// The framer's only timer.
    private enum Timer {
        case stopped
        case scheduled(Duration)
        /// The `wakeUp` call is due.
        case expired
    }

    var reading = FramerReading()
    var output = FramerOutput()
    /// The framer's current call.
    private(set) var call: FramerCall.Kind?
    private var phase = Phase.idle
    private var timer = Timer.stopped

    package init() {}

    package var status: StageStatus {
        switch phase {
        case .idle: .idle
        case .starting, .opening: .opening
        case .ready: .ready
        case .ended(nil, _): output.isDrained ? .closed : .ready
        case .ended(let failure?, _): .failed(failure)
        }
    }

    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    private var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    private var isClosing: Bool {
        switch phase {
        case .opening(let stop), .ready(let stop): stop != .notRequested
        case .idle, .starting, .ended: false
        }
    }

    package mutating func start(at now: Duration) {
        if case .idle = phase { phase = .starting }
    }

    // MARK: Content

    package var inboundRoom: Int { isOver ? .max : reading.room }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver else { return }
        reading.receive(chunk)
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        if let chunk = reading.pop(atMost: limit) { return chunk }
        guard limit > 0, isReady, call == nil else { return nil }
        return reading.takeEnd()
    }

    package var outboundRoom: Int {
        isOver ? .max : max(0, Self.bufferLimit - output.byteCount)
    }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !isOver, !isClosing, !output.hasEnd else { return false }
        output.append(chunk)
        passOutboundEnd()
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { output.pop(atMost: limit) }

    private mutating func passOutboundEnd() {
        guard call == nil, output.endWaits, isReady else { return }
        output.passEnd()
    }

    // MARK: Time

    package var deadline: Duration? {
        if case .scheduled(let time) = timer, !isOver { time } else { nil }
    }

    package mutating func advance(to now: Duration) {
        guard let deadline, now >= deadline else { return }
        timer = .expired
    }

    /// Sets the framer's only timer; `nil` stops it.
    package mutating func scheduleWakeUp(at deadline: Duration?) {
        guard !isOver else { return }
        timer = deadline.map(Timer.scheduled) ?? .stopped
    }

    // MARK: End

    package mutating func close(at now: Duration) {
        switch phase {
        // A framer that was never started needs no call.
        case .idle, .starting: phase = .ended(nil, needsCleanup: false)
        case .opening(.notRequested): phase = .opening(.due)
        case .ready(.notRequested): phase = .ready(.due)
        case .opening, .ready, .ended: break
        }
    }

    package mutating func abort(_ failure: Failure) {
        end(failure)
        reading.removeAll()
        output.removeAll()
    }

    /// Ends the stage. A stage that is already closing becomes `closed`, and not `failed`.
    private mutating func end(_ failure: Failure?) {
        switch phase {
        case .idle, .starting: phase = .ended(failure, needsCleanup: false)
        case .opening, .ready: phase = .ended(isClosing ? nil : failure, needsCleanup: true)
        case .ended: break
        }
    }

    package mutating func markReady() {
        guard case .opening(.notRequested) = phase else { return }
        phase = .ready(.notRequested)
        passOutboundEnd()
    }

    /// Ends the stage with a failure. If the stage is already closing, it becomes `closed` instead.
    package mutating func markFailed(_ failure: Failure?) {
        guard !isOver else { return }
        output.endCall()
        end(failure ?? .aborted)
    }
}

// MARK: - Calls

extension FramerStage {
    package mutating func nextEvent() -> (any StageEvent)? { nextCall().map { FramerEvent.call($0) } }

    /// Selects the next call: cleanup first, and output before input, so that a peer's input cannot block the framer's
    /// output.
    private mutating func nextCall() -> FramerCall? {
        guard call == nil else { return nil }
        let next: FramerCall?
        switch phase {
        case .idle, .ended(_, needsCleanup: false): next = nil
        case .starting:
            phase = .opening(.notRequested)
            next = FramerCall(kind: .start)
        case .opening, .ready: next = wakeUpCall() ?? outputCall() ?? stopCall() ?? reading.nextCall()
        case .ended(let failure, needsCleanup: true):
            phase = .ended(failure, needsCleanup: false)
            next = FramerCall(kind: .cleanup)
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
        guard isReady, output.hasWaiting, !output.endWaits, let chunk = output.begin() else { return nil }
        return FramerCall(
            kind: .output, metadata: chunk.metadata, length: chunk.bytes.count, isComplete: chunk.endsMessage)
    }

    /// Returns the `stop` call if it is due. A ready framer gets the call after it has received all the program's
    /// content. A framer that is not ready cannot send content, so it gets the call at once.
    private mutating func stopCall() -> FramerCall? {
        switch phase {
        case .opening(.due): phase = .opening(.called)
        case .ready(.due) where !output.hasWaiting: phase = .ready(.called)
        case .idle, .starting, .opening, .ready, .ended: return nil
        }
        return FramerCall(kind: .stop)
    }

    /// Ends the current call if it has this kind; otherwise returns `false`.
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
        guard callEnded(.input), !isOver else { return }
        reading.want(wanted)
        guard !reading.exceedsLimit else { return markFailed(.tooLong) }
        reading.callEnded()
        // No further bytes can complete the framer's handshake.
        if !isReady, reading.isExhausted { markFailed(.endedEarly) }
    }

    /// Completes a ``FramerCall/Kind/output`` call.
    package mutating func outputEnded() { _ = callEnded(.output) }

    /// Completes a ``FramerCall/Kind/wakeUp`` call.
    package mutating func wakeUpEnded() { _ = callEnded(.wakeUp) }

    /// Completes a ``FramerCall/Kind/stop`` call. If the framer is not done, it calls ``markFailed(_:)`` later.
    package mutating func stopEnded(isDone: Bool) {
        guard callEnded(.stop), isDone else { return }
        end(nil)
    }

    /// Completes the ``FramerCall/Kind/cleanup`` call, which is the last one.
    package mutating func cleanupEnded() { _ = callEnded(.cleanup) }
}

extension FramerStage: StateMachine {
    package typealias Action = FramerCall

    /// Whether the framer gets no more calls: the last one was `cleanup`, unless the framer was never started.
    package var hasEnded: Bool {
        if case .ended(_, needsCleanup: false) = phase { true } else { false }
    }

    package mutating func takeActions(dueAt now: Duration) -> [FramerCall] {
        advance(to: now)
        return nextCall().map { [$0] } ?? []
    }
}
