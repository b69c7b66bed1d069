package import CausewayTypes
package import CausewayWire

/// A message's WebSocket metadata.
package struct WebSocketMetadata: StageMetadata, Equatable {
    package var opcode: WebSocketOpcode
    /// The code and reason of a close frame. If a close frame to send has no reason, the message's content is used as
    /// the reason.
    package var closing: WebSocketClosing
    /// An identifier for a ping to send. The event for the matching pong has the same identifier.
    package var pingToken: UInt64?

    package init(opcode: WebSocketOpcode, closing: WebSocketClosing = WebSocketClosing(), pingToken: UInt64? = nil) {
        self.opcode = opcode
        self.closing = closing
        self.pingToken = pingToken
    }
}

/// An event of a WebSocket stage: a request that needs an answer, or a notification.
package enum WebSocketStageEvent: StageEvent {
    /// A client requests a WebSocket. Answer with ``WebSocketStage/respond(_:)``, then call
    /// ``ProtocolStack/resume(at:)``.
    case requested(UpgradeRequest)
    case opened(UpgradeResponse?)
    case pingAnswered(UInt64)
    case pingLost(UInt64)
    /// The detailed failure, for example the HTTP status with which the server refused the upgrade.
    /// ``WebSocketStage/status`` is less precise.
    case failed(WebSocketMachine.Failure)
}

/// WebSocket as a stage in a stack: a byte stream below, messages above.
///
/// Chunks have ``WebSocketMetadata``; a sent chunk without this metadata becomes a binary message. Control frames
/// arrive as messages of kind `control` or `closing`. A close frame arrives as a message with opcode `close`, followed
/// by the end of the receiving direction.
///
/// If the program has already ended its sending direction, and the peer's close frame has no reason and no code other
/// than 1000, the close frame does not arrive as a message. The program then receives only the end of the receiving
/// direction. If the peer ends the stream without a close frame and no message is incomplete, the program first
/// receives the end of the receiving direction, and then the failure.
package struct WebSocketStage: ProtocolStage {
    /// The progress of closing on this side.
    private enum ClosingPhase {
        case none
        /// The program has ended its sending direction. This side then sends a close frame.
        case endOfContent
        case closing
    }

    private var machine: WebSocketMachine
    private var inbound = MessageChunkQueue()
    private var events = InlineFirstQueue<WebSocketStageEvent>()
    private var failure: CausewayTypes.Failure?
    private var farewell = ClosingPhase.none
    private var receivedEnd = false
    private var sentEnd = false
    /// The content that the program has passed so far for a control frame that is not complete yet.
    private var control = ByteChain()

    package init(_ machine: WebSocketMachine) { self.machine = machine }

    private var isClosing: Bool { farewell == .closing }

    package var status: StageStatus {
        if let failure { return .failed(failure) }
        switch machine.phase {
        case .idle: return .idle
        case .opening, .deciding: return .opening
        case .open: return isClosing && machine.receivedClose && !machine.hasOutput ? .closed : .ready
        case .ended: return machine.isFinished && (sentEnd || isClosing) && inbound.isEmpty ? .closed : .ready
        }
    }

    package var awaitsPeer: Bool {
        if failure == nil, case .opening = machine.phase { true } else { false }
    }

    package mutating func start(at now: Duration) {
        machine.started()
        fill()
    }

    /// Sends the server's response to a request.
    package mutating func respond(_ response: UpgradeResponse) {
        machine.respond(response)
        fill()
    }

    package var inboundRoom: Int { machine.inputRoom }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        machine.received(chunk.bytes)
        if chunk.isFinal { machine.inputEnded() }
        fill()
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        let chunk = inbound.pop(atMost: limit)
        fill()
        return chunk
    }

    package var takesContent: Bool { failure == nil && !machine.hasEnded && !machine.sentClose }

    package var outboundRoom: Int { max(0, Self.bufferLimit - machine.outputCount) }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        let metadata = chunk.metadata(of: WebSocketMetadata.self) ?? WebSocketMetadata(opcode: .binary)
        let isTaken = takesContent
        if metadata.opcode.isControl {
            sendControl(metadata, chunk)
        } else if !chunk.isBareEnd {
            machine.send(metadata.opcode, chunk.bytes, endsMessage: chunk.endsMessage)
        }
        if chunk.isFinal {
            if farewell == .none, takesContent { farewell = .endOfContent }
            machine.close(WebSocketClosing(code: .normalClosure))
        }
        fill()
        return isTaken
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? {
        if let bytes = machine.nextOutput(atMost: limit) { return MessageChunk(bytes, endsMessage: false) }
        // If the compressor failed in the call above, the WebSocket has now ended. Report its end.
        if machine.hasEnded { fill() }
        guard machine.isFinished, !sentEnd, limit > 0 else { return nil }
        sentEnd = true
        return .end
    }

    package mutating func nextEvent() -> (any StageEvent)? { events.popFirst() }

    package mutating func close(at now: Duration) {
        farewell = .closing
        machine.close(WebSocketClosing(code: .normalClosure))
        fill()
    }

    package var awaitsGoodbye: Bool { isClosing && failure == nil }

    package mutating func abort(_ failure: CausewayTypes.Failure) {
        let isHangUp = failure.isHangUp && !isClosing
        if isHangUp, machine.isOpen {
            // First deliver the messages that arrived before the failure. Then deliver the end of the input, unless a
            // message is incomplete.
            //
            // Decode only a part of the input now, because decompressed input can be a thousand times longer. The rest
            // is decoded later, while the program reads. That input may contain pongs. So a ping counts as lost only
            // after all input was decoded.
            machine.streamFailed()
            while inbound.room > 0, let event = machine.nextEvent() { take(event) }
        } else {
            if !isHangUp { inbound.removeAll() }
            machine.abort()
        }
        fill()
        if status != .closed, self.failure == nil { self.failure = failure }
    }

    private mutating func sendControl(_ metadata: WebSocketMetadata, _ chunk: MessageChunk) {
        // Stop storing bytes when the payload is longer than a control frame can hold. The machine does not send such a
        // payload, and it truncates such a close reason.
        if control.count <= WebSocketFrameHeader.maximumControlLength { control.append(chunk.bytes) }
        guard chunk.endsMessage else { return }
        let payload = control.bytes
        control = ByteChain()
        switch metadata.opcode {
        case .ping: machine.sendPing(payload, token: metadata.pingToken)
        case .pong: machine.sendPong(payload)
        default:
            var closing = metadata.closing
            if closing.reason.isEmpty { closing.reason = String(decoding: payload, as: UTF8.self) }
            machine.close(closing)
        }
    }

    /// Decodes received bytes until the next part of a message. This also processes handshakes and control frames, even
    /// if the program does not read.
    private mutating func fill() {
        while let token = machine.nextLostPing() { events.append(.pingLost(token)) }
        while inbound.isEmpty, let event = machine.nextEvent() { take(event) }
    }

    private mutating func take(_ event: WebSocketMachine.Event) {
        switch event {
        case .requested(let request): events.append(.requested(request))
        case .opened(let response): events.append(.opened(response))
        case .content(let opcode, let bytes, let endsMessage):
            inbound.append(MessageChunk(bytes, metadata: [WebSocketMetadata(opcode: opcode)], endsMessage: endsMessage))
        case .ping(let payload): appendControl(payload, WebSocketMetadata(opcode: .ping))
        case .pong(let payload): appendControl(payload, WebSocketMetadata(opcode: .pong))
        case .pingAnswered(let token): events.append(.pingAnswered(token))
        case .pingLost(let token): events.append(.pingLost(token))
        case .closed(let closing):
            if farewell == .endOfContent, closing.isPlain { return appendEnd() }
            let metadata = WebSocketMetadata(opcode: .close, closing: closing)
            appendControl(Array(closing.reason.utf8), metadata, .closing)
        case .ended(nil): appendEnd()
        case .ended(let ending?):
            guard !isClosing else { break }
            if ending == .endedUnclosed { appendEnd() }
            failure = failure ?? Self.failure(for: ending)
            events.append(.failed(ending))
        }
    }

    private mutating func appendControl(
        _ payload: [UInt8], _ metadata: WebSocketMetadata, _ kind: MessageChunk.Kind = .control
    ) {
        var chunk = MessageChunk(payload, metadata: [metadata])
        chunk.kind = kind
        inbound.append(chunk)
    }

    private mutating func appendEnd() {
        guard !receivedEnd else { return }
        receivedEnd = true
        inbound.append(.end)
    }

    private static func failure(for ending: WebSocketMachine.Failure) -> CausewayTypes.Failure {
        switch ending {
        case .handshake(.unwritable): .misuse
        case .handshake, .aborted: .aborted
        case .protocolError, .invalidText: .protocolViolation
        case .messageTooBig: .tooLong
        case .endedEarly, .endedUnclosed: .endedEarly
        }
    }
}

extension WebSocketStage: StateMachine {
    package typealias Action = WebSocketStageEvent

    /// Whether the connection has ended and all events were taken. Content may still be unread.
    package var hasEnded: Bool { machine.isDrained && events.isEmpty }

    package mutating func takeActions(dueAt now: Duration) -> [WebSocketStageEvent] { events.removeAll() }
}

extension WebSocketClosing {
    /// Whether the close frame has no reason and no code other than 1000. Such a frame adds no information if it only
    /// answers a close frame with code 1000.
    fileprivate var isPlain: Bool { reason.isEmpty && (code == nil || code == .normalClosure) }
}
