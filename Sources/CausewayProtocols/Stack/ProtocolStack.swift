package import CausewayTypes

/// A protocol stack over a transport: bytes or datagrams at the bottom, messages at the top.
///
/// Handshakes run from the bottom to the top: a stage starts when the stage below it is ready. Closing runs from the top to the bottom: a
/// stage closes when the stage above it has closed. Content is passed to a stage only while the stage has room for it, so the stack holds a
/// limited number of bytes, even if the peer is fast and the program slow.
///
/// After each method call, the owner calls ``nextEvent(at:)`` until it returns `nil`, sends the chunks from
/// ``nextOutbound(atMost:at:)``, and reads ``deadline``. The stack reports its end once, as an event.
package struct ProtocolStack: Sendable {
    /// Identifies a stage during its lifetime, even if other stages are inserted.
    package struct StageID: Hashable, Sendable {
        fileprivate var number: Int
    }

    package enum Event: Sendable {
        /// All handshakes are complete: messages can be sent and received.
        case ready
        /// A stage has sent a question or a notification.
        case stage(StageID, any StageEvent)
        /// The stack has failed. Send the remaining chunks from ``ProtocolStack/nextOutbound(atMost:at:)`` before you close the transport.
        case failed(Failure)
        /// All stages have closed, after ``ProtocolStack/close(at:)``.
        case closed
    }

    enum Phase: Equatable {
        case opening, ready, ended
    }

    struct Place: Sendable {
        let id: StageID
        var stage: any ProtocolStage
        var started: Duration?
        var opened: Duration?
        var wasStarted: Bool { started != nil }
    }

    /// A state change that concerns the whole stack.
    enum PendingEvent {
        case ready
        case failed(Failure)
        case closed

        var event: Event {
            switch self {
            case .ready: .ready
            case .failed(let failure): .failed(failure)
            case .closed: .closed
            }
        }
    }

    struct NothingPending {
        var event = false
        var inbound = false
        var outbound = false
        var wakeUp = false
    }

    /// Stages from bottom to top.
    var places: [Place]
    var lastNumber: Int
    var phase: Phase = .opening
    var wasStarted = false
    var wasReady = false
    /// The index of the lowest closing stage. This stage and all stages above it deliver and accept no content.
    var closing: Int?
    var pendingEvent: PendingEvent?
    /// The kinds of output known to be empty until the state changes, so that the stack need not query each stage
    /// again.
    var nothingPending = NothingPending()

    /// - Parameter stages: The stages from bottom to top; at least one.
    package init(_ stages: [any ProtocolStage]) {
        precondition(!stages.isEmpty, "a stack needs at least one stage")
        places = stages.enumerated().map { Place(id: StageID(number: $0), stage: $1) }
        lastNumber = stages.count - 1
    }

    /// Stage identifiers from bottom to top.
    package var stageIDs: [StageID] { places.map(\.id) }
    package var isReady: Bool { phase == .ready && closing == nil }
    /// Whether the stack consists of one stage whose handshake is complete. Content then passes directly between the program, the stage and
    /// the transport.
    package var isPlain: Bool { isReady && places.count == 1 }
    /// The durations for completed handshakes, from bottom to top.
    package var handshakes: [(stage: StageID, duration: Duration)] {
        places.compactMap { place in
            guard let started = place.started, let opened = place.opened else { return nil }
            return (place.id, opened - started)
        }
    }
    package var hasEnded: Bool { phase == .ended }
    /// Whether handshakes are in progress and ``close(at:)`` has not been called.
    package var isOpening: Bool { phase == .opening && closing == nil }
    /// Whether closing waits only for the peer's closing message.
    package var awaitsGoodbye: Bool {
        guard let closing, places.indices.contains(closing) else { return false }
        return places[closing].stage.awaitsGoodbye
    }

    /// Starts the handshakes. Call this method when the transport is ready.
    package mutating func start(at now: Duration) {
        guard !wasStarted else { return }
        wasStarted = true
        settle(at: now)
    }

    /// Adds content to the handshake (early data, TLS 0-RTT). The peer may receive this content twice, so it must be idempotent. Call this
    /// method before ``start(at:)``.
    ///
    /// - Returns: Whether the stack accepted the content. If the result is `false`, send the content after the handshake.
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool {
        // If there is a protocol above the lowest stage, that protocol changes the program's content before the lowest stage encrypts it.
        guard !wasStarted, places.count == 1 else { return false }
        return places[0].stage.sendEarly(bytes)
    }

    /// Whether a handshake is waiting for a message from the peer.
    package var awaitsPeer: Bool {
        phase == .opening && places.contains { $0.wasStarted && $0.stage.awaitsPeer }
    }

    // MARK: Events and time

    /// Whether ``nextEvent(at:)`` may return an event. Reading this property is cheaper than calling the method.
    package var mayHaveEvent: Bool { !nothingPending.event }
    /// Whether ``nextInbound(atMost:at:)`` may return a chunk.
    package var mayHaveInbound: Bool { !nothingPending.inbound }
    /// Whether ``nextOutbound(atMost:at:)`` may return a chunk.
    package var mayHaveOutbound: Bool { !nothingPending.outbound }

    /// Whether the stack has no events, no content and no timer.
    package var isQuiet: Bool {
        isPlain && nothingPending.event && nothingPending.inbound && nothingPending.outbound && nothingPending.wakeUp
    }

    package mutating func nextEvent(at now: Duration) -> Event? {
        guard !nothingPending.event else { return nil }
        for index in places.indices {
            if let event = places[index].stage.nextEvent() {
                settle(at: now)
                return .stage(places[index].id, event)
            }
        }
        guard let pendingEvent = pendingEvent.take() else {
            nothingPending.event = true
            return nil
        }
        return pendingEvent.event
    }

    /// The time at which to call ``advance(to:)``; `nil` if no call is needed.
    package var deadline: Duration? {
        var copy = self
        return copy.lookForWakeUp()
    }

    /// Computes ``deadline`` without copying the stack. There is no deadline after the stack has ended: otherwise the
    /// timers of stages below a failed stage would fire until the owner releases the stack.
    package mutating func lookForWakeUp() -> Duration? {
        guard phase != .ended, !nothingPending.wakeUp else { return nil }
        var earliest: Duration?
        for index in places.indices {
            guard let time = places[index].stage.deadline else { continue }
            earliest = min(time, earliest ?? time)
        }
        return earliest
    }

    package mutating func advance(to now: Duration) {
        guard phase != .ended else { return }
        for index in places.indices { places[index].stage.advance(to: now) }
        settle(at: now)
    }

    // MARK: Stages

    /// Calls `body` with a stage, for example to respond to the stage's event. Call ``resume(at:)`` afterwards. The program's own code may
    /// run before that call.
    ///
    /// - Returns: The result of `body`; `nil` if the stage does not exist or has another type.
    package mutating func withStage<Stage: ProtocolStage, Result>(
        _ id: StageID, as type: Stage.Type, _ body: (inout Stage) -> Result
    ) -> Result? {
        guard let index = places.firstIndex(where: { $0.id == id }), var stage = places[index].stage as? Stage else {
            return nil
        }
        // Remove the stage from the array before changing it. Otherwise there would be two references to the stage, and a change would copy
        // its buffers.
        places[index].stage = VacantStage()
        nothingPending = NothingPending()
        defer { places[index].stage = stage }
        return body(&stage)
    }

    /// Continues after ``withStage(_:as:_:)`` has changed a stage.
    package mutating func resume(at now: Duration) { settle(at: now) }

    /// Inserts a new stage above an existing stage that is not ready yet.
    ///
    /// - Returns: The new stage's identifier; `nil` if the stage below is already ready or does not exist.
    package mutating func insert(_ stage: any ProtocolStage, above id: StageID) -> StageID? {
        guard let index = places.firstIndex(where: { $0.id == id }), phase == .opening, closing == nil else {
            return nil
        }
        switch places[index].stage.status {
        case .idle, .opening: break
        case .ready, .closed, .failed: return nil
        }
        lastNumber += 1
        let newID = StageID(number: lastNumber)
        places.insert(Place(id: newID, stage: stage), at: index + 1)
        nothingPending = NothingPending()
        return newID
    }

    // MARK: Closing

    /// Closes the stages from top to bottom. Accepted content is sent first; received content is discarded. There is no timeout: to limit
    /// the time, call ``abort(_:)``.
    package mutating func close(at now: Duration) {
        guard phase != .ended, closing == nil else { return }
        closing = places.count
        closeNext(at: now)
        settle(at: now)
    }

    /// Ends the stack immediately, for example after a transport failure. Some stages may still report events that
    /// release resources.
    package mutating func abort(_ failure: Failure) {
        if phase != .ended {
            phase = .ended
            pendingEvent = .failed(failure)
        }
        for index in places.indices { places[index].stage.abort(failure) }
        nothingPending = NothingPending()
    }
}

/// A placeholder for a stage while `withStage` changes it.
private struct VacantStage: ProtocolStage {
    var status: StageStatus { .idle }
    var inboundRoom: Int { 0 }
    var outboundRoom: Int { 0 }
    mutating func start(at now: Duration) {}
    mutating func receive(_ chunk: MessageChunk, at now: Duration) {}
    mutating func nextInbound(atMost limit: Int) -> MessageChunk? { nil }
    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool { false }
    mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { nil }
    mutating func close(at now: Duration) {}
    mutating func abort(_ failure: Failure) {}
}
