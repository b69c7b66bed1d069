package import CausewayTypes

/// Protocols on top of each other, over a transport: bytes or datagrams below, messages above.
///
/// Handshakes run from the bottom up: a stage starts when the one beneath it is ready. Closing runs from the top down: a stage
/// closes when the one above it has. In between everything is pulled through, no further than each stage has room, so that a stack holds a
/// bounded amount however fast the peer and however slow the program.
///
/// The owner does after every call: take ``nextEvent()`` until there is none, send what ``nextOutbound(atMost:at:)`` gives, and ask for
/// ``wakeUp``. The end is told once.
package struct ProtocolStack: Sendable {
    /// Names a stage for its life, whatever is inserted around it.
    package struct StageID: Hashable, Sendable {
        fileprivate var number: Int
    }

    package enum Event: Sendable {
        /// Every handshake is done: messages may flow.
        case ready
        /// A stage asks or tells.
        case stage(StageID, any StageEvent)
        /// The stack is at its end. What ``ProtocolStack/nextOutbound(atMost:at:)`` still gives should be sent before the transport is closed.
        case failed(Failure)
        /// Every stage has said goodbye, after ``ProtocolStack/close(at:)``.
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

    /// What becomes of the stack as a whole.
    enum News {
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

    /// From the bottom up.
    var places: [Place]
    var lastNumber: Int
    var phase: Phase = .opening
    var wasStarted = false
    var wasReady = false
    /// The stage from which on, upwards, nothing is delivered or accepted any more.
    var closing: Int?
    var news: News?
    /// What was asked for in vain: it cannot be there before something else happens. Owners ask often.
    var nothingPending = NothingPending()

    /// - Parameter stages: From the bottom up; at least one.
    package init(_ stages: [any ProtocolStage]) {
        precondition(!stages.isEmpty, "a stack needs a protocol")
        places = stages.enumerated().map { Place(id: StageID(number: $0), stage: $1) }
        lastNumber = stages.count - 1
    }

    /// From the bottom up.
    package var stageIDs: [StageID] { places.map(\.id) }
    package var isReady: Bool { phase == .ready && closing == nil }
    /// One protocol whose handshake is done: nothing is between the program and it, nor between it and the transport.
    package var isPlain: Bool { isReady && places.count == 1 }
    /// How long the handshakes took that are done, from the bottom up.
    package var handshakes: [(stage: StageID, duration: Duration)] {
        places.compactMap { place in
            guard let started = place.started, let opened = place.opened else { return nil }
            return (place.id, opened - started)
        }
    }
    package var hasEnded: Bool { phase == .ended }
    /// Handshakes are under way, and nobody has closed.
    package var isOpening: Bool { phase == .opening && closing == nil }
    /// Nothing is left of closing but a peer's goodbye.
    package var awaitsGoodbye: Bool {
        guard let closing, places.indices.contains(closing) else { return false }
        return places[closing].stage.awaitsGoodbye
    }

    /// The transport is ready.
    package mutating func start(at now: Duration) {
        guard !wasStarted else { return }
        wasStarted = true
        settle(at: now)
    }

    /// Takes content that does no harm when it arrives twice, to be sent along with the handshake. Before ``start(at:)``.
    ///
    /// - Returns: Whether it was taken. If not, it is to be sent as usual.
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool {
        // Beneath another protocol, what the program sends is not what is to be encrypted.
        guard !wasStarted, places.count == 1 else { return false }
        return places[0].stage.sendEarly(bytes)
    }

    /// Whether a handshake goes on with the peer's next word.
    package var awaitsPeer: Bool {
        phase == .opening && places.contains { $0.wasStarted && $0.stage.awaitsPeer }
    }

    // MARK: Events and time

    /// Whether there may be an event: a look at the flag is cheaper than to ask in vain.
    package var mayHaveEvent: Bool { !nothingPending.event }
    /// The same for content to the program.
    package var mayHaveInbound: Bool { !nothingPending.inbound }
    /// The same for content to the transport.
    package var mayHaveOutbound: Bool { !nothingPending.outbound }

    /// There is nothing in it for anybody, and it waits for no time.
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
        guard let news = news.take() else {
            nothingPending.event = true
            return nil
        }
        return news.event
    }

    /// When ``advance(to:)`` should be called next.
    package var wakeUp: Duration? {
        var copy = self
        return copy.lookForWakeUp()
    }

    /// The same without copying anything.
    package mutating func lookForWakeUp() -> Duration? {
        guard !nothingPending.wakeUp else { return nil }
        var earliest: Duration?
        for index in places.indices {
            guard let time = places[index].stage.wakeUp else { continue }
            earliest = min(time, earliest ?? time)
        }
        return earliest
    }

    package mutating func advance(to now: Duration) {
        for index in places.indices { places[index].stage.advance(to: now) }
        settle(at: now)
    }

    // MARK: Stages

    /// Acts on a stage, as its events ask for. Call ``resume(at:)`` when done; a call of the program's code may come in between.
    ///
    /// - Returns: `nil` if there is no such stage, or it is of another type.
    package mutating func withStage<Stage: ProtocolStage, Result>(
        _ id: StageID, as type: Stage.Type, _ body: (inout Stage) -> Result
    ) -> Result? {
        guard let index = places.firstIndex(where: { $0.id == id }), var stage = places[index].stage as? Stage else {
            return nil
        }
        // The copy must be the only one, or changing it would copy what it holds.
        places[index].stage = VacantStage()
        nothingPending = NothingPending()
        defer { places[index].stage = stage }
        return body(&stage)
    }

    /// Stages were acted on: carries on with what that made possible.
    package mutating func resume(at now: Duration) { settle(at: now) }

    /// Inserts a protocol above a stage that is not ready.
    ///
    /// - Returns: `nil` if that stage is ready already, or gone.
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

    // MARK: The end

    /// Says goodbye, from the top down. What was taken is sent before; what arrives is dropped. How long that may take is the owner's to
    /// limit with ``abort(_:)``.
    package mutating func close(at now: Duration) {
        guard phase != .ended, closing == nil else { return }
        closing = places.count
        closeNext(at: now)
        settle(at: now)
    }

    /// The transport is gone, or everything must end now. Stages tell what they must still let go of.
    package mutating func abort(_ failure: Failure) {
        if phase != .ended {
            phase = .ended
            news = .failed(failure)
        }
        for index in places.indices { places[index].stage.abort(failure) }
        nothingPending = NothingPending()
    }
}

/// Stands in for a stage while its owner acts on it.
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
