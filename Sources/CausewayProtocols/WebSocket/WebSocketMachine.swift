package import CausewayWire

/// One end of a WebSocket connection (RFC 6455), over any byte stream.
///
/// The owner gives it what arrived, pulls events and bytes to send, and gives it room by pulling: what is not pulled stays undecoded,
/// and ``inputRoom`` falls to 0. Timeouts of the handshakes are the owner's. Whatever the peer sends, ``Event/ended(_:)`` comes once
/// and last.
package struct WebSocketMachine: Sendable {
    package enum Role: Sendable {
        /// ``UpgradeRequest/key`` is set by the machine.
        case client(UpgradeRequest)
        case server
    }

    package struct Configuration: Sendable {
        /// Pings are answered, and not delivered.
        package var repliesToPings = false
        /// Bytes of the longest message that is accepted; 0 for any. Messages are delivered in pieces, so that no size makes
        /// the machine hold more than ``inputLimit``.
        package var maximumMessageSize = 0
        /// Frames follow at once: the connection was upgraded elsewhere.
        package var skipsHandshake = false
        /// Bytes of payload in a frame that is sent, beyond which a message is cut in fragments; 0 for no cutting.
        package var fragmentSize = 0

        package init() {}
    }

    /// Why a connection ended other than by a close handshake.
    package enum Failure: Error, Equatable, Sendable {
        case handshake(UpgradeError)
        /// RFC 6455 §5 was broken: closed with 1002. The text names what.
        case protocolError(String)
        /// A text message is not UTF-8: closed with 1007.
        case invalidText
        /// A message is longer than the configuration allows: closed with 1009.
        case messageTooBig
        /// The stream ended in the middle of the handshake or of a message.
        case endedEarly
        /// The stream ended between two messages, without a close frame.
        case endedUnclosed
        /// The owner gave up.
        case aborted
    }

    package enum Event: Sendable {
        /// Server: decide with ``respond(_:)``. Nothing moves until then.
        case requested(UpgradeRequest)
        /// Messages may flow. `nil` if the handshake was skipped.
        case opened(UpgradeResponse?)
        /// A piece of a message of text or of binary data. A message has at least one, and only the last ends it.
        case content(WebSocketOpcode, ByteChain, endsMessage: Bool)
        case ping([UInt8])
        /// A pong that answers no ping sent with a token.
        case pong([UInt8])
        /// The ping sent with this token, and all before it, reached the peer.
        case pingAnswered(UInt64)
        case pingLost(UInt64)
        /// The peer's close frame. It is answered by the machine.
        case closed(WebSocketClosing)
        /// The transport may be closed once the output is taken; `nil` after a close handshake.
        case ended(Failure?)
    }

    enum Phase: Equatable {
        case idle
        case opening(UpgradeHeadScanner)
        case deciding(UpgradeRequest)
        case open
        case ended
    }

    /// Bytes that wait undecoded before ``inputRoom`` is 0.
    package static let inputLimit = 64 << 10

    let role: Role
    let configuration: Configuration
    var phase: Phase = .idle
    var events = InlineFirstQueue<Event>()
    var input = ByteChain()
    var inputHasEnded = false
    var decoder: WebSocketMessageDecoder
    var output: WebSocketOutput
    var pings = PendingPings()
    /// Whether a message is being sent whose last piece has not come.
    var sendsMessage = false
    var sentClose = false
    var receivedClose = false
    /// The request that was sent.
    var request: UpgradeRequest?

    /// - Parameter random: Where keys and masks come from. It must be unpredictable (RFC 6455 §5.3) outside of tests.
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
    /// Whether the end was found. Its event may still wait to be taken.
    package var hasEnded: Bool { phase == .ended }
    /// Whether nothing will come out any more, and all was taken.
    package var isFinished: Bool { hasEnded && output.isEmpty }
    /// How many bytes the machine takes now.
    package var inputRoom: Int {
        if phase == .ended || receivedClose { return .max }
        return max(0, Self.inputLimit - input.count)
    }
    /// Bytes that wait to be taken by ``nextOutput(atMost:)``.
    package var outputCount: Int { output.count }

    /// The stream is there. A client asks for the upgrade.
    package mutating func started() {
        guard phase == .idle else { return }
        if configuration.skipsHandshake {
            phase = .open
            output.isHeld = false
            events.append(.opened(nil))
            return
        }
        phase = .opening(UpgradeHeadScanner())
        guard case .client(var request) = role else { return }
        request.key = output.makeKey()
        self.request = request
        do {
            output.append(raw: try request.serialized())
        } catch {
            end(.handshake(error))
        }
    }

    /// Bytes arrived. Take events afterwards.
    package mutating func received(_ bytes: ByteChain) {
        guard phase != .ended, !receivedClose, !inputHasEnded else { return }
        input.append(bytes)
    }

    /// The peer ended the stream. Take events afterwards.
    package mutating func inputEnded() { inputHasEnded = true }

    /// The server's answer to a request. An answer that cannot be written refuses with 400.
    package mutating func respond(_ response: UpgradeResponse) {
        guard case .deciding(let request) = phase else { return }
        do {
            output.append(raw: try response.serialized(for: request))
        } catch {
            return refuse(error, with: UpgradeResponse(refusing: error), for: request)
        }
        guard response.status == 101 else { return end(.handshake(.refused(status: response.status))) }
        phase = .open
        output.isHeld = false
        events.append(.opened(response))
    }

    /// Everything is over: nothing is sent any more.
    package mutating func abort() {
        output.removeAll()
        end(.aborted)
    }

    func refusal(_ error: UpgradeError) -> [UInt8] {
        (try? UpgradeResponse(refusing: error).serialized(for: nil)) ?? []
    }

    private mutating func refuse(_ error: UpgradeError, with response: UpgradeResponse, for request: UpgradeRequest?) {
        output.append(raw: refusal(error))
        end(.handshake(error))
    }

    /// The one door to the end.
    mutating func end(_ failure: Failure?) {
        guard phase != .ended else { return }
        phase = .ended
        input = ByteChain()
        for token in pings.removeAll() { events.append(.pingLost(token)) }
        events.append(.ended(failure))
    }
}
