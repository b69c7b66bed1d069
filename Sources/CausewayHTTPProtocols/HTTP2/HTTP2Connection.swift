internal import CausewayMachines
import CausewayProtocols
package import CausewayWire
internal import DequeModule

/// One side of an HTTP/2 connection (RFC 9113), over any byte stream.
///
/// The owner passes in received bytes and the time, and takes events and output. When the program has consumed the
/// bytes in a ``Event/content(_:_:endsStream:)`` event, the owner must report them with ``took(_:of:)``, which gives
/// the peer flow-control credit. For any input, each stream's last event is exactly one ``Event/closed(_:_:)``, and the
/// connection's last event is exactly one ``Event/ended(_:)``.
package struct HTTP2Connection: Sendable {
    package enum Role: Sendable {
        case client
        case server
    }

    package enum Event: Equatable, Sendable {
        /// The peer's settings, after each of its SETTINGS frames. The first such event makes the connection usable.
        case settings(HTTP2Settings)
        /// Server only: a request on a new stream.
        case request(HTTP2StreamID, HTTP2RequestHead, endsStream: Bool)
        /// Client only: an interim response.
        case informational(HTTP2StreamID, HTTP2ResponseHead)
        /// Client only: the response head.
        case response(HTTP2StreamID, HTTP2ResponseHead, endsStream: Bool)
        /// Received content.
        case content(HTTP2StreamID, ArraySlice<UInt8>, endsStream: Bool)
        /// The trailer section, which ends the peer's message.
        case trailers(HTTP2StreamID, FieldSection)
        /// All queued content was taken for sending, but the message has not ended. The program can send more.
        case drained(HTTP2StreamID)
        /// A stream's last event. The failure is `nil` if both messages are complete.
        case closed(HTTP2StreamID, HTTP2StreamFailure?)
        /// The peer acknowledged the ping with this token.
        case pingAnswered(UInt64)
        /// The peer accepts no new streams.
        case goAway(HTTP2ErrorCode, lastStreamID: HTTP2StreamID, debugData: [UInt8])
        /// The last event. Close the transport after the remaining output has been sent.
        case ended(HTTP2ConnectionFailure?)
    }

    /// The receive state.
    enum Phase: Equatable {
        /// The client's preface is incomplete. The value is the number of bytes that have arrived. Server only.
        case preface(Int)
        /// The peer's first SETTINGS frame has not arrived (RFC 9113 §3.4).
        case firstSettings
        case open
        case ended
    }

    package let role: Role
    let configuration: HTTP2Configuration
    var phase: Phase
    var events = InlineFirstQueue<Event>()
    var input: HTTP2Input
    var streams = HTTP2StreamTable()
    var output = HTTP2Output()
    var schedule = HTTP2SendSchedule()
    var receiveWindow = HTTP2ReceiveWindow(size: 65535)
    var peer = HTTP2PeerState()
    var own: HTTP2OwnState
    var floods: HTTP2FloodGuard

    package init(_ role: Role, configuration: HTTP2Configuration = HTTP2Configuration()) {
        self.role = role
        self.configuration = configuration.validated(for: role)
        phase = role == .server ? .preface(0) : .firstSettings
        var limits = HPACKDecoder.Limits()
        limits.listSize = self.configuration.settings.maxHeaderListSize ?? limits.listSize
        limits.fieldCount = configuration.maximumFieldCount
        input = HTTP2Input(limits: limits)
        own = HTTP2OwnState(self.configuration.settings)
        floods = HTTP2FloodGuard(burst: configuration.floodBurst, perSecond: configuration.floodRate)
    }

    package var hasEnded: Bool { phase == .ended }
    /// Whether the connection has ended and all output has been taken.
    package var isFinished: Bool { hasEnded && output.control.isEmpty }
    /// Bytes of queued frames without content, which wait for ``nextOutput(atMost:)``.
    var controlByteCount: Int { output.control.count }
    /// The open stream count, including waiting requests.
    package var streamCount: Int { streams.count }
    /// The peer's current settings.
    package var peerSettings: HTTP2Settings { peer.settings }
    /// Whether the connection accepts new requests.
    package var acceptsRequests: Bool { role == .client && phase != .ended && !peer.isGoingAway && own.goAway == nil }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? { events.popFirst() }

    /// Starts the connection: queues the preface and the settings (RFC 9113 §3.4). Only the first call has an effect.
    package mutating func started(at now: Duration) {
        guard !own.hasStarted, phase != .ended else { return }
        own.hasStarted = true
        if role == .client { output.append(raw: Self.preface) }
        output.append(.settings(configuration.settings.changes(from: HTTP2Settings())))
        own.settingsDeadline = now + configuration.settingsTimeout
        input.permit(configuration.settings)
        if let increment = receiveWindow.grow(to: configuration.connectionWindow) {
            output.append(.windowUpdate(UInt32(clamping: increment)))
        }
    }

    /// The client connection preface (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
}

extension HTTP2Connection: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
