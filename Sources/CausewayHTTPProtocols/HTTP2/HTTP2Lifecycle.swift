internal import CausewayWire

/// The lifecycle of an HTTP/2 connection from its preface to its end, with the GOAWAY frames of both sides (RFC 9113
/// §3.4, §6.8).
///
/// The lifecycle does not know the streams. The connection tells it which stream the peer opened last. The connection
/// ends when ``mayEnd`` is true and no stream is left.
struct HTTP2Lifecycle: Sendable {
    private enum Phase: Equatable {
        /// The client's preface is incomplete. The value is the number of preface bytes that have arrived. Only a
        /// server is in this phase.
        case preface(Int)
        /// The peer's first SETTINGS frame has not arrived (RFC 9113 §3.4).
        case firstSettings
        case open
        case ended
    }

    private let role: HTTP2Connection.Role
    private var phase: Phase
    private var hasStarted = false
    /// The last stream identifier in this side's latest GOAWAY frame; `nil` before this side sends one.
    private(set) var lastAcceptedID: HTTP2StreamID?
    /// The time at which a graceful shutdown stops waiting for requests in flight.
    private(set) var shutdownDeadline: Duration?
    /// The peer's last GOAWAY frame.
    private var peerGoAway: (lastStreamID: HTTP2StreamID, code: HTTP2ErrorCode, debugData: [UInt8])?

    init(_ role: HTTP2Connection.Role) {
        self.role = role
        phase = role == .server ? .preface(0) : .firstSettings
    }

    /// Whether the connection is open: the peer's first SETTINGS frame has arrived, and the connection has not ended.
    var isOpen: Bool { phase == .open }
    var hasEnded: Bool { phase == .ended }
    /// Whether both sides accept new streams.
    var acceptsStreams: Bool { phase != .ended && peerGoAway == nil && lastAcceptedID == nil }
    /// Whether the connection ends when no stream is left.
    var mayEnd: Bool {
        phase != .ended && shutdownDeadline == nil && (lastAcceptedID != nil || peerGoAway != nil)
    }
    /// The error that the peer reported with GOAWAY.
    var peerFailure: HTTP2ConnectionFailure? {
        guard let peerGoAway, peerGoAway.code != .noError else { return nil }
        return .goAway(peerGoAway.code, debugData: peerGoAway.debugData)
    }

    // MARK: Start

    /// Returns whether the connection can send its preface and settings: `false` if it has already sent them, or has
    /// ended.
    mutating func start() -> Bool {
        guard !hasStarted, phase != .ended else { return false }
        hasStarted = true
        return true
    }

    /// Compares a client's first bytes with the connection preface (RFC 9113 §3.4). Returns the bytes that follow the
    /// preface.
    mutating func matchPreface(_ bytes: ArraySlice<UInt8>) throws(HTTP2Violation) -> ArraySlice<UInt8> {
        guard case .preface(let matched) = phase else { return bytes }
        let preface = HTTP2Connection.preface
        let part = bytes.prefix(preface.count - matched)
        guard part.elementsEqual(preface[matched..<(matched + part.count)]) else {
            throw HTTP2Violation(.protocolError, "connection preface")
        }
        let count = matched + part.count
        phase = count == preface.count ? .firstSettings : .preface(count)
        return bytes.dropFirst(part.count)
    }

    /// Checks that the peer's first frame is SETTINGS (RFC 9113 §3.4).
    func checkOrder(_ item: HTTP2FrameReader.Item) throws(HTTP2Violation) {
        guard phase == .firstSettings else { return }
        switch item {
        case .data: throw HTTP2Violation(.protocolError, "DATA frame before SETTINGS")
        // A CONTINUATION frame needs no check here. It is an error without a preceding field block, and ``HTTP2Input``
        // refuses such a frame.
        case .frame(_, .settings), .frame(_, .continuation): return
        case .frame(let header, _): throw HTTP2Violation(.protocolError, "\(header.name) frame before SETTINGS")
        }
    }

    /// Records a SETTINGS frame. Returns whether it was the first.
    mutating func receivedSettings() -> Bool {
        guard phase == .firstSettings else { return false }
        phase = .open
        return true
    }

    // MARK: Shutdown

    /// Records a GOAWAY frame from the peer.
    mutating func receivedGoAway(
        _ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8]
    ) throws(HTTP2Violation) {
        if let peerGoAway, last > peerGoAway.lastStreamID {
            throw HTTP2Violation(.protocolError, "GOAWAY frame with a higher stream identifier than before")
        }
        peerGoAway = (last, code, debugData)
    }

    /// Begins a graceful shutdown. A server still accepts requests in flight, until the client acknowledges a PING
    /// frame or the deadline passes. At the earlier of these two times, the connection calls
    /// ``finishShutdown(after:_:)``.
    mutating func shutDown(after lastID: HTTP2StreamID, until deadline: Duration, _ output: inout HTTP2Output) {
        guard role == .server, phase == .open, lastAcceptedID == nil else {
            return finishAccepting(after: lastID, &output)
        }
        lastAcceptedID = .largestStream
        shutdownDeadline = deadline
        output.append(.goAway(lastStreamID: .largestStream, .noError))
        output.append(.ping(HTTP2Pings.shutdownToken))
    }

    /// Sends GOAWAY, unless this side has already sent one.
    mutating func finishAccepting(after lastID: HTTP2StreamID, _ output: inout HTTP2Output) {
        guard phase != .ended, lastAcceptedID == nil else { return }
        sendGoAway(after: lastID, &output)
    }

    /// Sends the final GOAWAY frame in a graceful shutdown, with the actual last stream identifier.
    mutating func finishShutdown(after lastID: HTTP2StreamID, _ output: inout HTTP2Output) {
        guard shutdownDeadline.take() != nil else { return }
        sendGoAway(after: lastID, &output)
    }

    private mutating func sendGoAway(after lastID: HTTP2StreamID, _ output: inout HTTP2Output) {
        lastAcceptedID = lastID
        output.append(.goAway(lastStreamID: lastID, .noError))
    }

    /// Answers the peer's GOAWAY frame when no stream is left. Does nothing if this side has already sent a GOAWAY
    /// frame.
    ///
    /// - Returns: The error in the peer's GOAWAY frame, with which the connection ends; `nil` if the frame has no
    ///   error, or if this method did nothing.
    func answerGoAway(after lastID: HTTP2StreamID, _ output: inout HTTP2Output) -> HTTP2ConnectionFailure? {
        guard lastAcceptedID == nil else { return nil }
        output.append(.goAway(lastStreamID: lastID, .noError))
        return peerFailure
    }

    /// Sends GOAWAY with an error code, because the connection ends without waiting for its streams.
    ///
    /// The last stream identifier never exceeds an earlier frame's value, although the peer may have opened further
    /// streams, which were ignored (RFC 9113 §6.8).
    func interrupt(
        _ code: HTTP2ErrorCode, _ reason: String, after lastID: HTTP2StreamID, _ output: inout HTTP2Output
    ) {
        let last = min(lastAcceptedID ?? .largestStream, lastID)
        output.append(.goAway(lastStreamID: last, code, debugData: Array(reason.utf8)[...]))
    }

    /// Records that the connection has ended. Returns `false` if it had ended before.
    mutating func ended() -> Bool {
        guard phase != .ended else { return false }
        phase = .ended
        return true
    }
}
