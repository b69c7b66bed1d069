package import CausewayTypes

/// A client's handshake with a proxy. After the handshake the proxy only forwards bytes.
package protocol TunnelHandshake: Sendable {
    /// Returns the first step, usually the first message to the proxy.
    mutating func begin() -> TunnelStep
    /// Processes messages from the proxy: removes them from the front of `bytes` and returns the next step.
    ///
    /// After ``TunnelStep/open``, the remaining bytes come from the destination.
    mutating func received(_ bytes: inout ByteChain) -> TunnelStep
    /// Removes and returns the handshake's request for an authentication message; `nil` if there is no such request.
    /// The stage calls this method after each message.
    mutating func takeQuestion() -> TunnelQuestion?
    /// Continues the handshake with an authentication message: the value of the field `Proxy-Authorization`, or `nil`
    /// if no message could be created.
    mutating func answered(_ value: String?) -> TunnelStep
}

extension TunnelHandshake {
    package mutating func takeQuestion() -> TunnelQuestion? { nil }
    package mutating func answered(_ value: String?) -> TunnelStep { .wait }
}

/// Requests the next message of a proxy authentication that takes several messages, such as Negotiate or NTLM. The code
/// that runs the stack answers with ``TunnelStage/answered(_:)``. The answer may come later, because creating a message
/// can take time.
package struct TunnelQuestion: StageEvent, Equatable {
    /// The proxy's message that the client must answer; `nil` before the first message.
    package var token: [UInt8]?
}

package enum TunnelStep: Equatable, Sendable {
    /// The handshake needs more bytes from the proxy.
    case wait
    case send([UInt8])
    case open
    case failed(Failure)
}

/// Connects through a proxy: performs a handshake, then passes content unchanged in both directions.
package struct TunnelStage: ProtocolStage {
    /// The maximum number of bytes that the proxy may send before the tunnel is open. If there are more, the stage
    /// fails.
    private static let handshakeLimit = 64 << 10

    private var handshake: (any TunnelHandshake)?
    private var phase: StageStatus = .idle
    private var isClosing = false
    /// Bytes from the proxy that the handshake has not processed yet. Only used until the tunnel is open.
    private var words = ByteChain()
    private var inbound = MessageChunkQueue()
    private var outbound = MessageChunkQueue()
    /// Whether the tunnel's destination has ended its sending direction.
    private var inboundEnded = false
    /// The authentication message that the handshake requests. It is `nil` after ``nextEvent()`` has returned the
    /// request.
    private var question: TunnelQuestion?
    private var isAsking = false

    /// - Parameter handshake: The handshake with the proxy; `nil` if there is no proxy. Without a proxy, the stage is
    ///   ready as soon as it starts.
    package init(_ handshake: (any TunnelHandshake)?) { self.handshake = handshake }

    package var status: StageStatus { phase == .closed && !outbound.isEmpty ? .ready : phase }
    package var awaitsPeer: Bool { phase == .opening && !isAsking }

    package mutating func start(at now: Duration) {
        guard phase == .idle else { return }
        guard handshake != nil else { return phase = .ready }
        phase = .opening
        take(handshake?.begin() ?? .wait)
    }

    /// Performs a step of the handshake. Used for a step that was not caused by bytes from the proxy.
    private mutating func take(_ step: TunnelStep) {
        switch step {
        case .wait, .open: break
        case .send(let bytes): say(bytes)
        case .failed(let failure): fail(failure)
        }
        ask()
    }

    // MARK: Questions

    private mutating func ask() {
        guard phase == .opening, let next = handshake?.takeQuestion() else { return }
        question = next
        isAsking = true
    }

    package mutating func nextEvent() -> (any StageEvent)? { question.take() }

    /// Continues the handshake with the answer to a ``TunnelQuestion``: the value of the field `Proxy-Authorization`,
    /// or `nil` if no message could be created. If the handshake waits for no answer, the call has no effect.
    package mutating func answered(_ value: String?) {
        guard phase == .opening, isAsking else { return }
        (isAsking, question) = (false, nil)
        take(handshake?.answered(value) ?? .wait)
    }

    private mutating func say(_ bytes: [UInt8]) {
        if !bytes.isEmpty { outbound.append(MessageChunk(bytes, endsMessage: false)) }
    }

    // MARK: Inbound

    package var inboundRoom: Int {
        switch phase {
        case .idle: 0
        case .opening: max(1, Self.handshakeLimit - words.count)
        case .ready: inbound.room
        case .closed, .failed: .max
        }
    }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        switch phase {
        case .ready: if !inboundEnded { pass(chunk) }
        case .opening: listen(chunk)
        case .idle, .closed, .failed: break
        }
    }

    private mutating func pass(_ chunk: MessageChunk) {
        inboundEnded = chunk.isFinal
        inbound.append(chunk)
    }

    private mutating func listen(_ chunk: MessageChunk) {
        words.append(chunk.bytes)
        if isAsking {
            // The client now prepares its next request, and the proxy must send nothing. The handshake fails if the
            // proxy ends the stream or fills the receive buffer.
            if chunk.isFinal || words.count >= Self.handshakeLimit { fail(Failure.tunnelBroken) }
            return
        }
        while phase == .opening {
            switch handshake?.received(&words) ?? .open {
            case .wait:
                if chunk.isFinal || words.count >= Self.handshakeLimit { fail(Failure.tunnelBroken) }
                return ask()
            case .send(let bytes): say(bytes)
            case .failed(let failure): fail(failure)
            case .open:
                phase = .ready
                handshake = nil
                // The proxy's reply may be followed at once by bytes from the destination. So pass on all bytes that
                // remain.
                let rest = words
                words = ByteChain()
                if !rest.isEmpty || chunk.isFinal {
                    pass(MessageChunk(rest, endsMessage: false, isFinal: chunk.isFinal))
                }
            }
        }
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? { inbound.pop(atMost: limit) }

    // MARK: Outbound

    package var outboundRoom: Int {
        switch phase {
        case .idle, .opening: 0
        case .ready: isClosing ? 0 : max(0, Self.bufferLimit - outbound.byteCount)
        case .closed, .failed: .max
        }
    }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard phase == .ready, !isClosing else { return false }
        outbound.append(chunk)
        return true
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { outbound.pop(atMost: limit) }

    // MARK: Closing

    package mutating func close(at now: Duration) {
        isClosing = true
        question = nil
        switch phase {
        // Close at once, and send no message to the proxy. The stages below may not be connected to the proxy yet.
        case .idle, .opening, .ready: phase = .closed
        case .closed, .failed: break
        }
    }

    package mutating func abort(_ failure: Failure) {
        guard phase != .closed else { return }
        fail(isClosing ? .tunnelBroken : failure)
        outbound.removeAll()
    }

    private mutating func fail(_ failure: Failure) {
        if case .failed = phase { return }
        phase = .failed(failure)
        question = nil
        words = ByteChain()
        inbound.removeAll()
    }
}

extension TunnelStage: StateMachine {
    package typealias Action = TunnelQuestion

    package var hasEnded: Bool {
        switch phase {
        case .closed, .failed: true
        case .idle, .opening, .ready: false
        }
    }

    package mutating func takeActions(dueAt now: Duration) -> [TunnelQuestion] {
        question.take().map { [$0] } ?? []
    }
}

extension Failure {
    /// The proxy closed the connection or uses another protocol.
    package static let tunnelBroken = Failure(errno: 71)
    /// The proxy demands authentication or rejected the credential.
    package static let tunnelDenied = Failure(errno: 13)
    package static let tunnelRefused = Failure(errno: 111)
    package static let tunnelHostUnreachable = Failure(errno: 113)
    package static let tunnelNetworkUnreachable = Failure(errno: 101)
    package static let tunnelTimedOut = Failure(errno: 110)
    package static let tunnelUnsupported = Failure(errno: 95)
}
