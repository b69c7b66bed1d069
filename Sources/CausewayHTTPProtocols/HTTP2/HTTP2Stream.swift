import CausewayProtocols

internal import CausewayWire

/// An open stream, or a request that waits for one (RFC 9113 §5.1).
struct HTTP2Stream: Sendable {
    /// The send state.
    enum Sending: Sendable {
        /// The request waits until the peer permits another stream.
        case waiting
        /// The final head has not been sent.
        case head
        case content
        case ended
    }

    /// The receive state.
    enum Receiving: Sendable {
        /// The final head has not arrived.
        case head
        case content
        case ended
    }

    /// How the message ends after the last queued content.
    enum Ending: Equatable, Sendable {
        case none
        case endOfStream
        case trailers(FieldSection)
    }

    let id: HTTP2StreamID
    var sending: Sending
    var receiving: Receiving
    /// The flow-control window for the peer's content.
    var receiveWindow: HTTP2ReceiveWindow
    /// Bytes that the peer permits this side to send. Can become negative when the peer reduces its initial window
    /// (RFC 9113 §6.9.2).
    var sendWindow: Int
    /// Content that waits for flow-control window or its turn in the schedule.
    var queue = ByteChain()
    var ending = Ending.none
    var length = HTTP2ContentLength()
    var priority = HTTPPriority()
    /// Whether the stream is in the schedule.
    var isScheduled = false
    var method = HTTP2MethodKind.other
    /// The waiting request; `nil` after it was sent.
    var request: HTTP2WaitingRequest?

    /// Whether the stream is still idle and does not count toward the concurrent stream limit (RFC 9113 §5.1.2).
    var isWaiting: Bool { sending == .waiting }
    var isClosed: Bool { sending == .ended && receiving == .ended }
    /// Whether content can be sent, if the connection window permits.
    var isSendable: Bool { sending == .content && !queue.isEmpty && sendWindow > 0 }
}

extension HTTP2Stream {
    /// Accounts for a whole DATA frame when its first piece arrives, so that the result does not depend on how the
    /// frame is split. Returns the violation; `nil` if there is none (RFC 9113 §6.9.1, §8.1.1).
    mutating func mistake(in piece: HTTP2DataPiece, _ pace: HTTP2ReceiveWindow.Pace?) -> HTTP2Violation? {
        guard receiveWindow.receive(piece.flowControlledCount, pace) else {
            return HTTP2Violation(.flowControlError, stream: id, "content beyond the window")
        }
        guard length.receive(piece.flowControlledCount - piece.paddingCount) else {
            return HTTP2Violation(.protocolError, stream: id, "content longer than announced")
        }
        guard !piece.endsStream || length.permitsEnd else {
            return HTTP2Violation(.protocolError, stream: id, "content shorter than announced")
        }
        return nil
    }
}

/// A request that waits until the peer permits another stream.
final class HTTP2WaitingRequest: Sendable {
    let head: HTTP2RequestHead
    let endsStream: Bool

    init(_ head: HTTP2RequestHead, endsStream: Bool) {
        self.head = head
        self.endsStream = endsStream
    }
}

/// The request method, as far as it affects message framing.
enum HTTP2MethodKind: Sendable {
    case head
    /// The stream becomes a tunnel when the response succeeds (RFC 9113 §8.5).
    case connect
    /// The stream is a tunnel and carries only DATA frames.
    case tunnel
    case other

    init(_ head: HTTP2RequestHead) {
        self =
            switch head.method {
            case "HEAD": .head
            case "CONNECT": .connect
            default: .other
            }
    }
}

/// Compares the received content length with `content-length` (RFC 9113 §8.1.1).
struct HTTP2ContentLength: Sendable {
    /// The announced length in bytes; `nil` if there is none.
    var expected: Int?
    /// Whether the message has no content regardless of its fields: a response to HEAD, or with status 204 or 304.
    var isEmptyByDefinition = false
    private(set) var received = 0

    /// Accounts for content. Returns `false` if the content exceeds the announced length.
    mutating func receive(_ count: Int) -> Bool {
        received += count
        if isEmptyByDefinition { return received == 0 }
        return received <= expected ?? .max
    }

    /// Whether the message may end now.
    var permitsEnd: Bool { isEmptyByDefinition || expected == nil || expected == received }
}
