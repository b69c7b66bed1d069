internal import CausewayTypes
package import CausewayWire

/// One side of a WebSocket connection (RFC 6455), over any byte stream.
///
/// The owner passes received bytes to the machine. It takes two things from the machine: events, and the bytes to send.
/// The machine decodes input only when the owner takes events. If the owner takes none, ``inputRoom`` falls to 0.
///
/// The owner is responsible for handshake timeouts. For any input, ``Event/ended(_:)`` comes exactly once, as the final
/// event.
package struct WebSocketMachine: Sendable {
    enum Phase {
        case idle
        /// The connection waits for the HTTP head of the peer's handshake message.
        case opening
        /// On a server: the program decides whether to accept the client's request.
        case deciding
        case open
        case ended
    }

    /// The maximum number of undecoded bytes. When this number is reached, ``inputRoom`` is 0.
    package static let inputLimit = 64 << 10

    private let configuration: Configuration
    private(set) var phase = Phase.idle
    private var upgrade: WebSocketUpgrade
    private var events = InlineFirstQueue<Event>()
    private var input: WebSocketInput
    private var output: WebSocketOutput
    private var pings = PendingPings()
    /// Whether the program has begun to send a message but has not sent its last part.
    private var sendsMessage = false
    private(set) var sentClose = false
    private(set) var receivedClose = false

    /// - Parameter random: The source of keys and masks. It must be unpredictable (RFC 6455 §5.3), except in tests.
    package init(
        _ role: Role, configuration: Configuration = Configuration(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        let upgrade = WebSocketUpgrade(role, compression: configuration.compression)
        self.configuration = configuration
        self.upgrade = upgrade
        input = WebSocketInput(expectsMask: upgrade.isServer, maximumMessageSize: configuration.maximumMessageSize)
        output = WebSocketOutput(
            masks: !upgrade.isServer, fragmentSize: max(0, configuration.fragmentSize), random: random)
    }

    package var isOpen: Bool { phase == .open }
    /// Whether the connection has ended. The final event, ``Event/ended(_:)``, may still be pending.
    package var hasEnded: Bool { phase == .ended }
    /// Whether the connection has ended and ``nextEvent(atMost:)`` has returned all events.
    package var isDrained: Bool { hasEnded && events.isEmpty && !pings.hasLost }
    /// Whether the connection has ended, and all output was taken with ``nextOutput(atMost:)``.
    package var isFinished: Bool { hasEnded && !hasOutput }
    /// The number of bytes that the machine accepts now.
    package var inputRoom: Int {
        if phase == .ended || receivedClose { return .max }
        return max(0, Self.inputLimit - input.count)
    }
    /// Whether anything is waiting for ``nextOutput(atMost:)``.
    var hasOutput: Bool { !output.isEmpty }
    /// The number of bytes that are waiting for ``nextOutput(atMost:)``.
    package var outputCount: Int { output.count }

    /// Changes the maximum received message size in bytes; 0 for no limit. It applies from the next frame on.
    package mutating func limitMessages(to size: Int) { input.limitMessages(to: size) }

    /// Compresses and decompresses the messages from now on. Call this before the first message if the handshake is skipped.
    package mutating func compress(with codec: any WebSocketCodec) {
        input.decompress(with: codec)
        output.codec = codec
    }

    /// Ends the connection immediately, and sends nothing more.
    package mutating func abort() {
        output.removeAll()
        end(.aborted)
    }

    /// Enters the final state and queues the last event. All endings go through this method.
    private mutating func end(_ failure: Failure?) {
        guard phase != .ended else { return }
        phase = .ended
        input.removeAll()
        pings.loseAll()
        events.append(.ended(failure))
    }
}

// MARK: - Opening handshake

extension WebSocketMachine {
    /// Starts the handshake when the stream is connected. A client sends the upgrade request.
    package mutating func started() {
        guard phase == .idle else { return }
        guard !configuration.skipsHandshake else { return finishHandshake(nil) }
        phase = .opening
        guard !upgrade.isServer else { return }
        let key = output.makeKey()
        do {
            let request = try upgrade.begin(key: key)
            output.append(raw: request)
        } catch {
            refuse(error)
        }
    }

    /// Sends the server's response to a request. If the response cannot be encoded, the machine refuses the request with status 400.
    package mutating func respond(_ response: UpgradeResponse) {
        guard phase == .deciding else { return }
        do {
            let (answer, bytes) = try upgrade.answer(response)
            output.append(raw: bytes)
            guard answer.status == 101 else { return end(.handshake(.refused(status: answer.status))) }
            finishHandshake(answer)
        } catch {
            refuse(error)
        }
    }

    private mutating func readHead() -> Bool {
        do {
            switch try upgrade.read(&input) {
            case .requested(let request):
                phase = .deciding
                events.append(.requested(request))
            case .accepted(let response):
                accepted(response)
            case nil:
                guard input.hasEnded else { return false }
                end(.endedEarly)
            }
        } catch {
            refuse(error)
        }
        return true
    }

    private mutating func accepted(_ response: UpgradeResponse) {
        guard response.deflate != nil || !upgrade.requiresCompression else {
            // The opening handshake is complete. So this side sends a close frame, which tells the server why the
            // connection fails.
            output.isHeld = false
            return fail(.handshake(.missingExtension))
        }
        finishHandshake(response)
    }

    /// Enters the open state, in which frames are sent.
    ///
    /// - Parameter response: The server's response; `nil` if the handshake was skipped.
    private mutating func finishHandshake(_ response: UpgradeResponse?) {
        if let codec = upgrade.codec(response?.deflate) { compress(with: codec) }
        phase = .open
        output.isHeld = false
        events.append(.opened(response))
    }

    /// Ends the connection because the handshake failed. On a server, first sends a response that refuses the request.
    private mutating func refuse(_ error: UpgradeError) {
        if upgrade.isServer { output.append(raw: WebSocketUpgrade.refusal(error)) }
        end(.handshake(error))
    }
}

// MARK: - Receiving

extension WebSocketMachine {
    /// Adds received bytes. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func received(_ bytes: ByteChain) {
        guard phase != .ended, !receivedClose else { return }
        input.append(bytes)
    }

    /// Records that the peer ended the stream. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func inputEnded() { input.end() }

    /// Records that both directions of the stream failed. An open connection sends nothing more. The bytes received
    /// before the failure still become events.
    package mutating func streamFailed() {
        inputEnded()
        guard isOpen else { return }
        output.removeAll()
        output.isHeld = true
    }

    /// Decodes input until it finds an event, and returns this event (RFC 6455 §6.2).
    ///
    /// - Parameter limit: The maximum number of content bytes in the event. If the limit is 0, the method returns only
    ///   events without content.
    package mutating func nextEvent(atMost limit: Int = .max) -> Event? {
        while true {
            // Report lost pings before all other events. Other events may have to wait until the program reads content.
            if let token = nextLostPing() { return .pingLost(token) }
            if let event = events.popFirst() { return event }
            guard makesProgress(atMost: limit) else { return nil }
        }
    }

    /// Removes and returns the token of a lost ping. The machine then reports no ``Event/pingLost(_:)`` for this ping.
    /// Each lost ping is reported only once.
    package mutating func nextLostPing() -> UInt64? { pings.nextLost() }

    /// Decodes input or ends the connection. Both can add an event. Returns `false` if neither is possible now.
    private mutating func makesProgress(atMost limit: Int) -> Bool {
        switch phase {
        case .opening: return readHead()
        case .open where !receivedClose: return decode(atMost: limit)
        case .open: return finishClosing()
        case .idle, .deciding, .ended: return false
        }
    }

    private mutating func decode(atMost limit: Int) -> Bool {
        do {
            switch try input.next(atMost: limit) {
            case .content(let opcode, let bytes, let endsMessage):
                events.append(.content(opcode, bytes, endsMessage: endsMessage))
            case .control(.ping, let payload): receivedPing(payload)
            case .control(.pong, let payload): receivedPong(payload)
            case .control(_, let payload): try receivedClose(payload)
            case nil: return endIfCutOff(atMost: limit)
            }
        } catch {
            fail(error)
        }
        return true
    }

    /// Ends the connection if the peer has ended the stream. Called only when the remaining input cannot be decoded any
    /// further.
    private mutating func endIfCutOff(atMost limit: Int) -> Bool {
        guard input.hasEnded, limit > 0 else { return false }
        end(sentClose ? nil : input.isBetweenMessages ? .endedUnclosed : .endedEarly)
        return true
    }

    private mutating func receivedPing(_ payload: [UInt8]) {
        guard configuration.repliesToPings else { return events.append(.ping(payload)) }
        if !sentClose { output.reply(toPing: payload) }
    }

    private mutating func receivedPong(_ payload: [UInt8]) {
        let answered = pings.answered(payload)
        for token in answered { events.append(.pingAnswered(token)) }
        if answered.isEmpty { events.append(.pong(payload)) }
    }

    /// Answers a close frame with the same code, and discards pending output, because the peer no longer reads it (RFC 6455 §5.5.1).
    private mutating func receivedClose(_ payload: [UInt8]) throws(Failure) {
        let closing: WebSocketClosing
        do {
            closing = try WebSocketClosing(parsing: payload)
        } catch {
            throw error == .text ? .invalidText : .protocolError("close code")
        }
        receivedClose = true
        input.removeAll()
        events.append(.closed(closing))
        guard !sentClose else { return }
        output.removeWaiting()
        appendClose(WebSocketClosing(code: closing.code))
    }

    /// Ends the connection after both peers have sent a close frame. The server ends the TCP stream first (RFC 6455
    /// §7.1.1). A client waits until the server has ended the stream.
    private mutating func finishClosing() -> Bool {
        if !upgrade.isServer, !input.hasEnded { return false }
        end(nil)
        return true
    }

    /// Ends the connection after a failure. Sends a close frame if none was sent before (RFC 6455 §7.1.7).
    private mutating func fail(_ failure: Failure) {
        output.removeWaiting()
        if !sentClose {
            let code: WebSocketCloseCode =
                switch failure {
                case .invalidText: .invalidFramePayloadData
                case .messageTooBig: .messageTooBig
                case .handshake(.missingExtension): .mandatoryExtension
                case .protocolError, .handshake, .endedEarly, .endedUnclosed, .aborted: .protocolError
                }
            appendClose(WebSocketClosing(code: code))
        }
        end(failure)
    }
}

// MARK: - Sending

extension WebSocketMachine {
    /// Sends part of a message. The parts up to the one with `endsMessage` are fragments of one message (RFC 6455 §5.4,
    /// §6.1). The method may be called before the connection is open.
    ///
    /// - Parameter opcode: Text or binary; only the opcode of the first part matters. The program must make sure that
    ///   text is UTF-8.
    /// - Returns: Whether the part was accepted. After a close frame was sent, or after the connection has ended, no
    ///   parts are accepted.
    @discardableResult
    package mutating func send(_ opcode: WebSocketOpcode, _ bytes: ByteChain, endsMessage: Bool = true) -> Bool {
        guard !opcode.isControl, phase != .ended, !sentClose else { return false }
        output.append(sendsMessage ? .continuation : opcode, bytes, endsMessage: endsMessage)
        sendsMessage = !endsMessage
        return true
    }

    /// Sends a ping of at most 125 bytes. If a token is given, ``Event/pingAnswered(_:)`` or ``Event/pingLost(_:)`` reports the result.
    package mutating func sendPing(_ payload: [UInt8] = [], token: UInt64? = nil) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else {
            if let token { pings.lose(token) }
            return
        }
        output.append(.ping, ByteChain(payload), endsMessage: true)
        if let token { pings.append(payload, token: token) }
    }

    /// Sends a pong of at most 125 bytes. A longer payload is ignored.
    package mutating func sendPong(_ payload: [UInt8]) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength, phase != .ended, !sentClose else { return }
        output.append(.pong, ByteChain(payload), endsMessage: true)
    }

    /// Sends a close frame after all earlier messages (RFC 6455 §7.1.2). Only the first call has an effect. If the code
    /// is not permitted in a close frame, the frame is sent without a code.
    package mutating func close(_ closing: WebSocketClosing) {
        guard phase != .ended, !sentClose else { return }
        switch phase {
        case .open: appendClose(closing)
        // No connection is open yet, so there is nothing to close.
        case .idle, .opening, .deciding:
            output.removeWaiting()
            end(.aborted)
        case .ended: break
        }
    }

    /// Removes and returns the next bytes to send: at most `limit` payload bytes, plus a frame header.
    package mutating func nextOutput(atMost limit: Int = .max) -> ByteChain? {
        let bytes = output.next(atMost: limit)
        // If the compressor has failed, abort: the connection cannot continue.
        if output.hasFailed { abort() }
        return bytes
    }

    private mutating func appendClose(_ closing: WebSocketClosing) {
        sentClose = true
        output.append(.close, ByteChain(closing.payload), endsMessage: true)
    }
}

extension WebSocketMachine: StateMachine {
    package typealias Action = Event

    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
