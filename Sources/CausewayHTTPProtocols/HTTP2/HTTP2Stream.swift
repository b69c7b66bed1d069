import CausewayProtocols

internal import CausewayWire

/// An open stream, or a request that waits for one (RFC 9113 §5.1).
struct HTTP2Stream: Sendable {
    /// How much of this side's message was sent on the stream.
    enum Sending: Sendable {
        /// The request waits until the peer permits another stream.
        case waiting
        /// The final response head, or the request head, has not been sent.
        case head
        case content
        case ended
    }

    /// How much of the stream's incoming message has arrived.
    enum Receiving: Sendable {
        /// The final response or request head has not arrived.
        case head
        case content
        case ended
    }

    /// What follows the queued content: nothing yet, END_STREAM, or trailers.
    enum Ending: Equatable, Sendable {
        case none
        case endOfStream
        case trailers(FieldSection)
    }

    /// A part of the content, to be sent in one DATA frame.
    struct Part: Sendable {
        let content: ByteChain
        let priority: HTTPPriority
        /// Whether no more queued content follows this part.
        let isLast: Bool
        /// Whether the frame ends the message.
        let endsStream: Bool
        /// Whether more content can be sent.
        let hasMore: Bool

        /// Appends the DATA frame to `chunk`.
        func serialize(streamID: HTTP2StreamID, into chunk: inout ByteChain) {
            let header = HTTP2FrameHeader(
                length: content.count, type: .data, flags: endsStream ? .endStream : [], streamID: streamID)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(HTTP2FrameHeader.byteCount + min(content.count, ByteChain.coalescedLength))
            header.serialize(into: &bytes)
            chunk.append(bytes)
            chunk.append(content)
        }
    }

    let id: HTTP2StreamID
    private(set) var sending: Sending
    private(set) var receiving: Receiving
    /// The flow-control window for the peer's content.
    private var receiveWindow: HTTP2ReceiveWindow
    /// The number of bytes that the peer permits this side to send on the stream. It can become negative when the peer
    /// reduces its initial window (RFC 9113 §6.9.2).
    private(set) var sendWindow: Int
    /// Content that waits to be sent, until the flow-control windows permit it and the schedule selects the stream.
    private var queue = ByteChain()
    private(set) var ending = Ending.none
    private var length = HTTP2ContentLength()
    private(set) var priority = HTTPPriority()
    /// Whether the stream is in the schedule.
    private(set) var isScheduled = false
    private var method = HTTP2MethodKind.other
    /// The request that waits to be sent; `nil` after it was sent.
    private(set) var request: HTTP2WaitingRequest?

    init(
        id: HTTP2StreamID, sending: Sending, receiving: Receiving, receiveWindow: HTTP2ReceiveWindow, sendWindow: Int
    ) {
        self.id = id
        self.sending = sending
        self.receiving = receiving
        self.receiveWindow = receiveWindow
        self.sendWindow = sendWindow
    }

    /// Whether the request still waits to be sent. Its stream is then idle, so it does not count toward the limit for
    /// concurrent streams (RFC 9113 §5.1.2).
    var isWaiting: Bool { sending == .waiting }
    var isClosed: Bool { sending == .ended && receiving == .ended }
    /// Whether the stream has content that it may send. The connection's flow-control window must permit the content
    /// too.
    var isSendable: Bool { sending == .content && !queue.isEmpty && sendWindow > 0 }
    /// Whether the program can add content to the message.
    var permitsContent: Bool { ending == .none && (sending == .content || request?.endsStream == false) }
    /// The number of content bytes that wait to be sent.
    var queuedByteCount: Int { queue.count }
    /// Whether the server has sent its complete response, but has not received the complete request.
    var canDrain: Bool { sending == .ended && receiving == .content }

    private static func priority(_ fields: FieldSection) -> HTTPPriority {
        guard let place = fields.index(of: "priority") else { return HTTPPriority() }
        return HTTPPriority(parsing: fields[place].value)
    }
}

// MARK: - Sending

extension HTTP2Stream {
    /// Records the head of a client's request before the request is sent.
    mutating func requested(_ head: HTTP2RequestHead) {
        priority = Self.priority(head.fields)
        method = HTTP2MethodKind(head)
    }

    /// Stores a request that waits until the server permits its stream.
    mutating func wait(with head: HTTP2RequestHead, endsStream: Bool) {
        request = HTTP2WaitingRequest(head, endsStream: endsStream)
    }

    /// Records that the request head was sent.
    mutating func sentRequest(endsStream: Bool, sendWindow: Int) {
        request = nil
        sending = endsStream ? .ended : .content
        self.sendWindow = sendWindow
    }

    /// Records that the head of the final response was sent. The response content may follow.
    mutating func sentResponse(_ status: Int) {
        sending = .content
        if opensTunnel(status) { method = .tunnel }
    }

    /// Records that this side has sent its complete message.
    mutating func endSending() { sending = .ended }

    mutating func append(_ bytes: ByteChain, _ ending: Ending) {
        queue.append(bytes)
        self.ending = ending
    }

    /// Removes and returns the next content to send, at most `limit` bytes.
    mutating func takePart(atMost limit: Int) -> Part {
        let content = queue.take(atMost: min(limit, sendWindow))
        sendWindow -= content.count
        isScheduled = isSendable
        return Part(
            content: content, priority: priority, isLast: queue.isEmpty,
            endsStream: queue.isEmpty && ending == .endOfStream, hasMore: isScheduled)
    }

    /// Adds the peer's credit to the send window. Returns `false` if the window becomes too large (RFC 9113 §6.9.1).
    mutating func granted(_ increment: Int) -> Bool {
        sendWindow += increment
        return sendWindow <= HTTP2Settings.largestWindow
    }

    /// Applies a change of the peer's initial window (RFC 9113 §6.9.2). Returns `false` if the window becomes too
    /// large.
    mutating func initialWindowChanged(by difference: Int) -> Bool { isWaiting || granted(difference) }

    /// Records that the stream entered or left the schedule, after ``isSendable`` changed.
    mutating func rescheduled() { isScheduled = isSendable }

    /// Changes the priority, and marks the stream as not scheduled. Remove the stream from the schedule before this
    /// call, because the schedule's order depends on the old priority.
    mutating func changePriority(_ priority: HTTPPriority) {
        self.priority = priority
        isScheduled = false
    }

    /// Changes the priority in a waiting request. Returns `false` if no request waits.
    mutating func changeRequest(_ priority: HTTPPriority) -> Bool {
        guard let request else { return false }
        let value = priority.fieldValue
        var head = request.head
        head.fields.removeAll("priority")
        if !value.isEmpty { head.fields.append("priority", value) }
        self.request = HTTP2WaitingRequest(head, endsStream: request.endsStream)
        return true
    }
}

// MARK: - Receiving

extension HTTP2Stream {
    /// Interprets the head of a request to this side.
    ///
    /// - Parameter early: The priority from a frame that arrived before the request. It replaces the priority in the
    ///   request fields.
    mutating func receive(
        _ head: HTTP2RequestHead, endsStream: Bool, _ early: HTTPPriority?
    ) throws(HTTP2MalformedMessage) {
        method = HTTP2MethodKind(head)
        if method != .connect {
            length = HTTP2ContentLength(expected: try HTTP2ContentLength.announced(in: head.fields))
        }
        if endsStream { try length.checkEnd() }
        priority = early ?? Self.priority(head.fields)
    }

    /// Returns the content length that the head of a final response announces.
    func contentLength(
        of head: HTTP2ResponseHead, endsStream: Bool
    ) throws(HTTP2MalformedMessage) -> HTTP2ContentLength {
        var expected: Int?
        if !opensTunnel(head.status) { expected = try HTTP2ContentLength.announced(in: head.fields) }
        let isEmpty = method == .head || head.status == 204 || head.status == 304
        let length = HTTP2ContentLength(expected: expected, isEmptyByDefinition: isEmpty)
        if endsStream { try length.checkEnd() }
        return length
    }

    /// Records the final response head.
    mutating func receivedResponse(_ status: Int, _ length: HTTP2ContentLength) {
        receiving = .content
        self.length = length
        if opensTunnel(status) { method = .tunnel }
    }

    private func opensTunnel(_ status: Int) -> Bool { method == .connect && (200...299).contains(status) }

    /// Checks the first piece of a DATA frame, and counts the whole frame. So the result does not depend on how the
    /// frame is split into pieces.
    ///
    /// Returns the violation, or `nil` if there is none (RFC 9113 §5.1, §6.9.1, §8.1.1).
    mutating func mistake(in piece: HTTP2DataPiece, _ pace: HTTP2ReceiveWindow.Pace?) -> HTTP2Violation? {
        switch receiving {
        case .head: return HTTP2Violation(.protocolError, stream: id, "content before the head")
        case .ended: return HTTP2Violation(.streamClosed, stream: id, "content after the end")
        case .content: break
        }
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

    /// Interprets a field block after the final head as trailers.
    func trailers(
        in block: HPACKFieldBlock, endsStream: Bool
    ) throws(HTTP2MalformedMessage) -> FieldSection {
        guard method != .tunnel else { throw HTTP2MalformedMessage("HEADERS frame in a tunnel") }
        guard endsStream else { throw HTTP2MalformedMessage("HEADERS frame without END_STREAM") }
        let trailers = try block.trailers()
        try length.checkEnd()
        return trailers
    }

    /// Records that the peer's message is complete.
    mutating func endReceiving() { receiving = .ended }

    /// Accounts for content that the program has consumed. Returns the increment for a WINDOW_UPDATE frame; `nil` if no
    /// frame is to be sent.
    mutating func credit(_ count: Int) -> Int? { receiving == .content ? receiveWindow.credit(count) : nil }

    mutating func resizeReceiveWindow(by difference: Int) { receiveWindow.resize(by: difference) }
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

/// The kind of the request method. It distinguishes only the methods that affect message framing.
enum HTTP2MethodKind: Sendable {
    case head
    /// A CONNECT request. If the response is successful, the stream becomes a tunnel (RFC 9113 §8.5).
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
