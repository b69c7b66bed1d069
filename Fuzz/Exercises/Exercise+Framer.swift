internal import CausewayProtocols
internal import CausewayTypes

extension Exercise {
    /// Runs a framer stage with arbitrary actions by a framer, a peer and a program. Each byte must be delivered once
    /// and in order. Calls must not overlap, and cleanup must be the last call.
    ///
    /// - Returns: The number of delivered bytes.
    @discardableResult
    public static func framer(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        var subject = FramerSubject()
        while !choices.isEmpty { subject.act(&choices) }
        subject.finish()
        return subject.delivered.count
    }
}

/// A framer stage under test, and a model of the content that it must deliver.
private struct FramerSubject {
    private var stage = FramerStage()
    private var call: FramerCall?
    private var calls: [FramerCall.Kind] = []
    /// Number of stream bytes that the framer stage has received. The function ``streamByte(at:)`` gives each byte's
    /// value.
    private var received = 0
    /// The framer's position in the input. It has delivered or discarded all bytes before this position.
    private var cursor = 0
    private var passesInput = false
    private var hasEnd = false
    /// The bytes that must have been delivered after all input was received.
    private var expected: [UInt8] = []
    private(set) var delivered: [UInt8] = []
    private var sawFinal = false
    private var now = Duration.zero
    private var isEnding = false
    /// Whether the stage is allowed to drop data. If so, the test checks only the order of calls.
    private var isLoose: Bool { hasEnd || isEnding }

    private static func streamByte(at index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 37 &+ index >> 8) }

    /// Performs one action of the peer, the program or the framer. The fuzz input selects the action.
    mutating func act(_ choices: inout Exercise.Choices) {
        switch choices.next(below: 20) {
        case 0: stage.start(at: now)
        case 1...3: receive(choices.next(below: 64))
        case 4: if choices.next(below: 8) == 0 { receiveEnd() }
        case 5: send(choices.next(below: 40), endsMessage: choices.next() & 3 != 0)
        case 6...8: nextCall()
        case 9...10: answer(choices.next(below: 90), choices.next() & 1 == 0)
        case 11: look(choices.next(below: 50), choices.next(below: 80))
        case 12: advance(choices.next(below: 70))
        case 13: deliver(choices.next(below: 70), endsMessage: choices.next() & 1 == 0)
        case 14: make(choices.take(choices.next(below: 10)))
        case 15: write(choices.take(choices.next(below: 10)))
        case 16: writeNext(choices.next(below: 50))
        case 17: pull(choices.next(below: 60))
        case 18: time(choices.next(below: 30))
        default: rarely(choices.next())
        }
        check()
    }

    /// Ends the stage. Checks that the cleanup method is called exactly once, and after all other methods.
    mutating func finish() {
        answer(0, true)
        stage.abort(.aborted)
        for _ in 0..<4 {
            nextCall()
            answer(0, true)
        }
        precondition(stage.nextEvent() == nil)
        precondition(!calls.contains(.start) || calls.filter { $0 == .cleanup }.count == 1)
        precondition(calls.firstIndex(of: .cleanup).map { $0 == calls.count - 1 } ?? true)
        precondition(stage.deadline == nil)
    }

    private var isOver: Bool {
        switch stage.status {
        case .failed, .closed: true
        case .idle, .opening, .ready: calls.contains(.cleanup)
        }
    }

    private mutating func receive(_ count: Int) {
        guard stage.inboundRoom > 0, !hasEnd else { return }
        let bytes = (received..<(received + count)).map(Self.streamByte)
        if !isOver { received += count }
        stage.receive(MessageChunk(bytes, endsMessage: false), at: now)
    }

    private mutating func receiveEnd() {
        guard !hasEnd, !isOver else { return }
        hasEnd = true
        stage.receive(.end, at: now)
    }

    private mutating func send(_ count: Int, endsMessage: Bool) {
        guard stage.outboundRoom > 0 else { return }
        stage.send(MessageChunk((0..<count).map { UInt8($0) }, endsMessage: endsMessage), at: now)
    }

    private mutating func nextCall() {
        guard case FramerEvent.call(let next)? = stage.nextEvent() else { return }
        precondition(call == nil && calls.last != .cleanup)
        precondition((next.kind == .start) == calls.isEmpty)
        call = next
        calls.append(next.kind)
    }

    private mutating func answer(_ wanted: Int, _ flag: Bool) {
        guard let kind = call?.kind else { return }
        call = nil
        switch kind {
        case .start: stage.startEnded(isReady: flag)
        case .input: stage.inputEnded(wanting: wanted)
        case .output: stage.outputEnded()
        case .wakeUp: stage.wakeUpEnded()
        case .stop: stage.stopEnded(isDone: flag)
        case .cleanup: stage.cleanupEnded()
        }
    }

    private mutating func look(_ minimum: Int, _ maximum: Int) {
        let window = stage.inputWindow(minimum: minimum, maximum: maximum)
        defer { stage.advanceInput(by: 0) }
        precondition(window.bytes.count <= maximum)
        precondition(window.meetsMinimum == (window.bytes.count >= min(minimum, maximum)) || isOver || isLoose)
        guard !isLoose else { return }
        for (index, byte) in window.bytes.enumerated() { precondition(byte == Self.streamByte(at: cursor + index)) }
        let output = stage.outputWindow(minimum: minimum, maximum: maximum)
        precondition(call?.kind == .output || output.bytes.isEmpty)
    }

    private mutating func advance(_ count: Int) {
        guard !isOver, !passesInput else { return }
        stage.advanceInput(by: count)
        cursor += count
    }

    private mutating func deliver(_ count: Int, endsMessage: Bool) {
        guard !isOver, !passesInput else { return }
        let isWhole = stage.deliverNext(count, metadata: [], endsMessage: endsMessage)
        precondition(isLoose || isWhole == (cursor + count <= received))
        expected += (cursor..<(cursor + count)).map(Self.streamByte)
        cursor += count
    }

    private mutating func make(_ bytes: [UInt8]) {
        guard !isOver, !passesInput else { return }
        stage.deliver(ByteChain(bytes), metadata: [], endsMessage: true)
        expected += bytes
    }

    private mutating func write(_ bytes: [UInt8]) {
        guard !isOver else { return }
        stage.write(ByteChain(bytes))
    }

    private mutating func writeNext(_ count: Int) {
        let isWritten = stage.writeNext(count)
        precondition(!isWritten || call?.kind == .output)
    }

    private mutating func pull(_ limit: Int) {
        if let chunk = stage.nextInbound(atMost: limit) {
            precondition(chunk.bytes.count <= limit && !sawFinal)
            delivered += chunk.bytes.bytes
            sawFinal = chunk.isFinal
        }
        if let chunk = stage.nextOutbound(atMost: limit) { precondition(chunk.bytes.count <= limit) }
    }

    private mutating func time(_ milliseconds: Int) {
        stage.scheduleWakeUp(at: milliseconds == 0 ? nil : now + .milliseconds(milliseconds))
        now += .milliseconds(milliseconds / 2 + 5)
        stage.advance(to: now)
    }

    private mutating func rarely(_ choice: UInt8) {
        if (61...64).contains(choice) { isEnding = true }
        switch choice {
        case 0...60: stage.markReady()
        case 61: stage.markFailed(nil)
        case 62: stage.markFailed(.misuse)
        case 63: stage.close(at: now)
        case 64: stage.abort(.aborted)
        case 65:
            if !isOver, !passesInput, !hasEnd {
                stage.passThroughInput()
                passesInput = true
            }
        case 66: stage.passThroughOutput()
        case 67:
            guard !isOver, !passesInput, !hasEnd else { return }
            let window = stage.inputWindow(minimum: 1, maximum: 3)
            stage.passThroughInput()
            advance(window.bytes.count)
            passesInput = true
        default: break
        }
    }

    /// Checks that the delivered bytes are a prefix of the expected bytes.
    private func check() {
        precondition(stage.inboundRoom >= 0 && stage.outboundRoom >= 0)
        guard !isLoose else { return }
        let known = min(delivered.count, expected.count)
        precondition(delivered[..<known] == expected[..<known])
        if passesInput {
            for index in known..<delivered.count {
                precondition(delivered[index] == Self.streamByte(at: cursor + index - known))
            }
        } else {
            precondition(delivered.count <= expected.count)
        }
    }
}
