internal import CausewayMachines
package import CausewayWire

/// One side of a WebSocket connection (RFC 6455), over any byte stream.
///
/// The owner passes received bytes to the machine, and takes events and bytes to send from the machine. Input is
/// decoded only when the owner takes events, so ``inputRoom`` falls to 0 if the owner takes none. The owner is
/// responsible for handshake timeouts. For any input, ``Event/ended(_:)`` comes exactly once, as the last event.
package struct WebSocketMachine: Sendable {
    package enum Role: Sendable {
        /// A client that sends this request. The machine sets ``UpgradeRequest/key``.
        case client(UpgradeRequest)
        case server
    }

    package struct Configuration: Sendable {
        /// Whether the machine answers pings itself instead of delivering them to the program.
        package var repliesToPings = false
        /// The maximum received message size in bytes; 0 for no limit. Messages are delivered in parts, so the machine
        /// never stores more than ``inputLimit`` bytes.
        package var maximumMessageSize = 0
        /// Whether to skip the opening handshake, because the connection has already been upgraded.
        package var skipsHandshake = false
        /// The maximum payload of a sent frame in bytes; 0 for no limit. Longer messages are fragmented.
        package var fragmentSize = 0
        /// The compression to negotiate in the handshake; `nil` for none. If the handshake is skipped, see ``compress(with:)``.
        package var compression: WebSocketCompression?

        package init() {}
    }

    /// Why a connection ended without a close handshake.
    package enum Failure: Error, Equatable, Sendable {
        case handshake(UpgradeError)
        /// The peer violated RFC 6455 §5; the close code is 1002. The text describes the violation.
        case protocolError(String)
        /// A text message is not UTF-8; the close code is 1007.
        case invalidText
        /// A message is longer than the configuration permits; the close code is 1009 (RFC 6455 §10.4).
        case messageTooBig
        /// The stream ended during the handshake or inside a message.
        case endedEarly
        /// The stream ended between two messages, without a close frame (RFC 6455 §7.1.4, §7.1.5).
        case endedUnclosed
        /// The owner called ``WebSocketMachine/abort()``.
        case aborted

        /// A description of the failure, without a period.
        package var explanation: String {
            switch self {
            case .handshake(let error): error.explanation
            case .protocolError(let violation): "invalid frame: \(violation)"
            case .invalidText: "a text message is not UTF-8"
            case .messageTooBig: "a message is too long"
            case .endedEarly: "the connection ended inside a message"
            case .endedUnclosed: "the connection ended without a close frame"
            case .aborted: "the connection was closed"
            }
        }
    }

    package enum Event: Sendable {
        /// Server only: call ``respond(_:)`` to accept or refuse the request. The handshake waits for this call.
        case requested(UpgradeRequest)
        /// The connection is open. The response is `nil` if the handshake was skipped.
        case opened(UpgradeResponse?)
        /// Part of a text or binary message. A message has at least one part, and only the last part ends it.
        case content(WebSocketOpcode, ByteChain, endsMessage: Bool)
        case ping([UInt8])
        /// A pong arrived that does not answer a ping with a token.
        case pong([UInt8])
        /// The peer answered the ping with this token, or a later ping.
        case pingAnswered(UInt64)
        /// The ping with this token was dropped, or the connection ended before its pong arrived.
        case pingLost(UInt64)
        /// The peer sent this close frame. The machine answers it.
        case closed(WebSocketClosing)
        /// The connection has ended. This is the last event. Close the transport after the remaining output is sent. The failure is `nil`
        /// after a complete close handshake.
        case ended(Failure?)
    }

    /// The head of the peer's handshake message, or the part of it that was read so far.
    struct Opening: Equatable {
        var head: HeadReader
        /// The client's request; `nil` on a server.
        var request: UpgradeRequest?
    }

    enum Phase: Equatable {
        case idle
        case opening(Opening)
        case deciding(UpgradeRequest)
        case open
        case ended
    }

    /// Received bytes that were not decoded yet.
    struct Input {
        var bytes = ByteChain()
        /// Whether the peer ended the stream after these bytes.
        var hasEnded = false

        mutating func append(_ more: ByteChain) { if !hasEnded { bytes.append(more) } }

        mutating func putBack(_ piece: ArraySlice<UInt8>) {
            var all = ByteChain()
            all.append(piece)
            all.append(bytes)
            bytes = all
        }

        mutating func removeAll() { bytes = ByteChain() }
    }

    /// The maximum number of undecoded bytes. When this number is reached, ``inputRoom`` is 0.
    package static let inputLimit = 64 << 10

    let role: Role
    let configuration: Configuration
    var phase: Phase = .idle
    var events = InlineFirstQueue<Event>()
    var input = Input()
    var decoder: WebSocketMessageDecoder
    var output: WebSocketOutput
    var pings = PendingPings()
    /// Whether a message has begun whose last part has not been sent.
    var sendsMessage = false
    var sentClose = false
    var receivedClose = false

    /// - Parameter random: The source of keys and masks. It must be unpredictable (RFC 6455 §5.3), except in tests.
    package init(
        _ role: Role, configuration: Configuration = Configuration(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.role = role
        self.configuration = configuration
        var isServer = false
        if case .server = role { isServer = true }
        decoder = WebSocketMessageDecoder(
            expectsMask: isServer, maximumMessageSize: max(0, configuration.maximumMessageSize))
        output = WebSocketOutput(masks: !isServer, fragmentSize: max(0, configuration.fragmentSize), random: random)
    }

    package var isOpen: Bool { phase == .open }
    /// Whether the connection has ended. The last event may still be pending.
    package var hasEnded: Bool { phase == .ended }
    /// Whether the connection has ended and the owner has taken all events.
    package var isDrained: Bool { hasEnded && events.isEmpty && !pings.hasLost }
    /// Whether the connection has ended and the owner has taken all output.
    package var isFinished: Bool { hasEnded && output.isEmpty }
    /// The number of bytes that the machine accepts now.
    package var inputRoom: Int {
        if phase == .ended || receivedClose { return .max }
        return max(0, Self.inputLimit - input.bytes.count)
    }
    /// The number of bytes that are waiting for ``nextOutput(atMost:)``.
    package var outputCount: Int { output.count }

    /// Starts the handshake when the stream is connected. A client sends the upgrade request.
    package mutating func started() {
        guard phase == .idle else { return }
        if configuration.skipsHandshake {
            phase = .open
            output.isHeld = false
            events.append(.opened(nil))
            return
        }
        guard case .client(var request) = role else {
            phase = .opening(Opening(head: HeadReader(.request, limits: .upgrade)))
            return
        }
        request.key = output.makeKey()
        if let compression = configuration.compression { request.deflateOffers = [compression.parameters] }
        phase = .opening(Opening(head: HeadReader(.response, limits: .upgrade), request: request))
        do {
            output.append(raw: try request.serialized())
        } catch {
            end(.handshake(error))
        }
    }

    /// Changes the maximum received message size in bytes; 0 for no limit. It applies from the next frame on.
    package mutating func limitMessages(to size: Int) { decoder.maximumMessageSize = max(0, size) }

    /// Compresses and decompresses the messages from now on. Call this before the first message if the handshake is skipped.
    package mutating func compress(with codec: any WebSocketCodec) {
        decoder.codec = codec
        output.codec = codec
    }

    /// Adds received bytes. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func received(_ bytes: ByteChain) {
        guard phase != .ended, !receivedClose else { return }
        input.append(bytes)
    }

    /// Records that the peer ended the stream. Call ``nextEvent(atMost:)`` afterwards.
    package mutating func inputEnded() { input.hasEnded = true }

    /// Records that the stream failed in both directions. The machine sends nothing more, and the received bytes still become events.
    package mutating func streamFailed() {
        inputEnded()
        guard isOpen else { return }
        output.removeAll()
        output.isHeld = true
    }

    /// Sends the server's response to a request. If the response cannot be encoded, the machine refuses the request with status 400.
    package mutating func respond(_ response: UpgradeResponse) {
        guard case .deciding(let request) = phase else { return }
        var response = response
        if response.status == 101, let compression = configuration.compression {
            response.deflate = MessageDeflate.answer(to: request.deflateOffers, own: compression.parameters)
            guard response.deflate != nil || !compression.isRequired else {
                return refuse(.missingExtension)
            }
        }
        do {
            output.append(raw: try response.serialized(for: request))
        } catch {
            return refuse(error)
        }
        guard response.status == 101 else { return end(.handshake(.refused(status: response.status))) }
        if let agreed = response.deflate { startCompression(agreed) }
        phase = .open
        output.isHeld = false
        events.append(.opened(response))
    }

    /// Starts to compress messages with the parameters from the server's answer.
    mutating func startCompression(_ agreed: MessageDeflate) {
        guard let compression = configuration.compression else { return }
        var isServer = false
        if case .server = role { isServer = true }
        compress(with: compression.makeCodec(agreed, isServer))
    }

    /// Ends the connection immediately. The machine sends nothing more.
    package mutating func abort() {
        output.removeAll()
        end(.aborted)
    }

    func refusal(_ error: UpgradeError) -> [UInt8] {
        (try? UpgradeResponse(refusing: error).serialized(for: nil)) ?? []
    }

    private mutating func refuse(_ error: UpgradeError) {
        output.append(raw: refusal(error))
        end(.handshake(error))
    }

    /// Enters the final state and queues the last event. All endings go through this method.
    mutating func end(_ failure: Failure?) {
        guard phase != .ended else { return }
        phase = .ended
        input.removeAll()
        pings.loseAll()
        events.append(.ended(failure))
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
